import { dividedOver } from '../domain/unit.ts';
import { HOST_RULE, isHostName } from './cluster-schema.ts';
import { valueAt } from './describe-issue.ts';
import type { ConfigDraft } from './draft.ts';
import { error, warning, type Finding } from './problem.ts';
import { quote } from './reading.ts';

/** What is wrong between the fields of `cluster`, the hosts of the sources, and the host name of this machine. */
export function checkCluster(value: unknown, draft: ConfigDraft, machine: string): Finding[] {
  if (valueAt(value, ['cluster']) === undefined) return checkNoPins(draft);
  const isNamed = valueAt(value, ['cluster', 'host']) !== undefined;
  if (!isNamed && !isHostName(machine)) {
    const [first = ''] = machine.split('.');
    const fix = isHostName(first) ? `write "host": ${quote(first)}` : `write ${HOST_RULE}`;
    const message = `is missing, and the host name of this machine, ${quote(machine)}, cannot be used instead; ${fix}`;
    return [error(['cluster', 'host'], message, 'absence')];
  }
  const host = isNamed ? draft.cluster.host : machine;
  return [...checkPins(draft), ...(host === undefined ? [] : checkWeight(draft, host))];
}

/** Sources that may give the same key are one unit, which one host at a time works on. */
function checkPins({ platform, sources }: ConfigDraft): Finding[] {
  const keyed = sources.map((source, position) => ({
    name: String(position),
    keyPrefix: source.keyPrefix ?? '',
    targetName: source.botId ?? platform.botId ?? '',
    host: source.host ?? null,
  }));
  const divided = dividedOver(keyed);
  if (divided === null) return [];
  const [first, other] = divided.map(({ name, host }) => ({ position: Number(name), host }));
  if (first === undefined || other === undefined) return [];
  const where = (host: string | null): string => (host === null ? 'for any host' : `for ${quote(host)}`);
  const message = `is ${where(other.host)}, but sources[${first.position}] may give the same keys and is ${where(first.host)}; write the same "host" in both, or give one of them another "keyPrefix"`;
  return [error(['sources', other.position, 'host'], message, other.host === null ? 'absence' : undefined)];
}

function checkNoPins({ sources }: ConfigDraft): Finding[] {
  return sources.flatMap(({ host }, position) => {
    if (host === undefined) return [];
    const message =
      'pins this source to one host of a cluster, but there is no "cluster" block; remove this field, or add "cluster": { "database": "env:BOTSYNC_DATABASE" }';
    return [error(['sources', position, 'host'], message)];
  });
}

function checkWeight({ cluster, sources }: ConfigDraft, host: string): Finding[] {
  if (cluster.weight !== 0 || sources.some((source) => source.host === host)) return [];
  const message = `with 0 this host gets only the sources that are pinned to it, and there are none; add "host": ${quote(host)} to a source, or write 1 here`;
  return [warning(['cluster', 'weight'], message)];
}
