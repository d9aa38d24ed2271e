import { basename, resolve } from 'node:path';
import { formatAddress, isLoopback } from '../domain/listen-address.ts';
import { checkCluster } from './cluster-checks.ts';
import { nearest, valueAt } from './describe-issue.ts';
import { draftConfig, type ConfigDraft } from './draft.ts';
import { formatDuration } from './duration.ts';
import { checkNotify } from './notify-checks.ts';
import { error, warning, type Finding } from './problem.ts';
import { quote } from './reading.ts';
import { checkRules } from './rule-checks.ts';

/**
 * What is wrong between the fields of a configuration, each right by itself. `value` need not be valid; relative
 * paths start at `configFile`'s directory (`configFile` absolute). `machine`: the host name of this machine.
 */
export function crossCheck(value: unknown, configFile: string, machine: string): Finding[] {
  const draft = draftConfig(value);
  const directory = resolve(configFile, '..');
  const names = draft.sources.map((source, position) => {
    const isWritten = valueAt(value, ['sources', position, 'name']) !== undefined;
    if (isWritten || source.directory === undefined) return source.name ?? null;
    return defaultName(source.directory, directory);
  });
  return [
    ...checkAddresses(draft.platform),
    ...checkNames(draft, names),
    ...checkBots(value, draft),
    ...checkKeyPrefixes(draft),
    ...checkRuleSources(draft, names),
    ...checkRules(draft.rules),
    ...checkWatch(draft.watch),
    ...checkListen(draft.service),
    ...checkControl(draft.service),
    ...checkRemovals(draft),
    ...checkNotify(value, draft),
    ...checkCluster(value, draft, machine),
    ...checkStateFile(draft, configFile),
  ];
}

/** The name of a source: its own, or the last part of its directory (empty for the root directory). */
export function defaultName(directory: string, relativeTo: string): string {
  return basename(resolve(relativeTo, directory));
}

function checkAddresses(platform: ConfigDraft['platform']): Finding[] {
  return (['baseUrl', 'chatUrl'] as const).flatMap((field) => {
    const address = platform[field];
    if (address === undefined) return [];
    const url = new URL(address);
    const findings: Finding[] = [];
    if (url.protocol === 'http:' && !isThisMachine(url.hostname)) {
      const secret = field === 'baseUrl' ? 'token' : 'user key';
      findings.push(
        warning(['platform', field], `the ${secret} would be sent unencrypted; write "https://"`),
      );
    }
    if (field === 'baseUrl' && url.pathname.endsWith('/v1')) {
      const message = 'botsync adds "/v1" itself; remove it here';
      findings.push(warning(['platform', field], message));
    }
    return findings;
  });
}

/** Whether a host of an address is the machine itself. */
export function isThisMachine(host: string): boolean {
  return /^(?:localhost|.+\.localhost|127(?:\.\d+){3}|\[::1\])$/u.test(host);
}

function checkNames({ sources }: ConfigDraft, names: readonly (string | null)[]): Finding[] {
  return sources.flatMap((source, position) => {
    const name = names[position] ?? null;
    if (name === null) return [];
    const path = ['sources', position, source.name === undefined ? 'directory' : 'name'];
    if (name === '') return [error(path, 'this directory has no name of its own; add "name"')];
    const first = names.indexOf(name);
    if (first === position) return [];
    const message =
      source.name === undefined
        ? `this source would be named ${quote(name)}, after its directory, like sources[${first}]; add "name" to one of them`
        : `sources[${first}] is named ${quote(name)} as well; give this one another name`;
    return [error(path, message)];
  });
}

function checkBots(value: unknown, { sources }: ConfigDraft): Finding[] {
  if (valueAt(value, ['platform', 'botId']) !== undefined) return [];
  const without = [...sources.keys()].filter(
    (position) => valueAt(value, ['sources', position, 'botId']) === undefined,
  );
  if (without.length === 0) return [];
  const message = `is missing, and ${without.map((position) => `sources[${position}]`).join(', ')} without a botId of its own has no bot; write the id of the bot ("botsync init" offers the bots of a workspace)`;
  return [error(['platform', 'botId'], message, 'absence')];
}

function checkKeyPrefixes({ sources }: ConfigDraft): Finding[] {
  return sources.flatMap(({ keyPrefix = '' }, position) => {
    if (!/[\p{L}\p{N}]$/u.test(keyPrefix)) return [];
    const message = `the key of "a.md" would be ${quote(`${keyPrefix}a.md`)}; write ${quote(`${keyPrefix}/`)} if a folder is meant`;
    return [warning(['sources', position, 'keyPrefix'], message)];
  });
}

function checkRuleSources({ rules }: ConfigDraft, names: readonly (string | null)[]): Finding[] {
  const known = names.filter((name) => name !== null);
  // With a source whose name is not understood, nobody can say which name is wrong.
  if (known.length < names.length || known.length === 0) return [];
  return rules.flatMap((rule, position) => {
    const { source = [] } = rule;
    return source.flatMap((name, index) => {
      if (known.includes(name)) return [];
      const meant = nearest(name, known);
      const fix =
        meant === null ? `the sources are ${known.map(quote).join(', ')}` : `did you mean ${quote(meant)}?`;
      const path = ['rules', position, 'source', ...(source.length > 1 ? [index] : [])];
      return [error(path, `source ${quote(name)} not found; ${fix}`)];
    });
  });
}

function checkWatch({ settle, maxDelay }: ConfigDraft['watch']): Finding[] {
  if (settle === undefined || maxDelay === undefined || settle <= maxDelay) return [];
  const message = `a file would be sent before it has settled: watch.settle is ${formatDuration(settle)}; write at least that`;
  return [error(['watch', 'maxDelay'], message)];
}

function checkListen({ listen }: ConfigDraft['service']): Finding[] {
  if (listen === undefined || listen === null || isLoopback(listen.host)) return [];
  const message = `everybody who can reach this address may read the status, including the names of files; write ${quote(formatAddress({ host: '127.0.0.1', port: listen.port }))} unless a firewall protects it`;
  return [warning(['service', 'listen'], message)];
}

function checkControl({ listen, control }: ConfigDraft['service']): Finding[] {
  if (control === undefined || control === null || listen === undefined) return [];
  const path = ['service', 'control'];
  if (listen === null)
    return [error(path, 'is for the page, and there is none; add "listen": "127.0.0.1:9464" beside it')];
  if (isLoopback(listen.host)) return [];
  const message =
    'the secret would be sent unencrypted to this address; listen at "127.0.0.1" and reach it through an SSH tunnel, or a proxy that speaks https';
  return [warning(path, message)];
}

function checkRemovals({ platform, removals }: ConfigDraft): Finding[] {
  if (removals.mode !== 'delete' || platform.operations !== 'specified') return [];
  const message =
    'files expire instead, because platform.operations is "specified"; write "expire" here, or "auto" there';
  return [warning(['removals', 'mode'], message)];
}

function checkStateFile({ stateFile }: ConfigDraft, configFile: string): Finding[] {
  if (stateFile === undefined || resolve(configFile, '..', stateFile) !== configFile) return [];
  return [
    error(
      ['stateFile'],
      'is this configuration file itself; write another path, such as ".botsync/state.db"',
    ),
  ];
}
