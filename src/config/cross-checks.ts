import { basename, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { formatAddress, isLoopback } from '../domain/listen-address.ts';
import { valueAt } from './describe-issue.ts';
import { draftConfig, type ConfigDraft } from './draft.ts';
import { formatDuration } from './duration.ts';
import { nearest } from './guess.ts';
import { error, warning, type Finding, quote } from './problem.ts';
import { checkRules } from './rule-checks.ts';
import { isHostName, HOST_RULE } from './cluster-schema.ts';

/**
 * Finds what is wrong between fields that are valid by themselves. `value` may be invalid; relative paths start at the
 * directory of `configFile` (absolute). `machine`: the host name of this machine.
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
    ...checkTokens(draft),
    ...checkKeyPrefixes(draft),
    ...checkRuleSources(draft, names),
    ...checkRules(draft.rules),
    ...checkWatch(draft.watch),
    ...checkListen(draft.service),
    ...checkControl(draft.service),
    ...checkRemovals(draft),
    ...checkNotify(value, draft),
    ...checkCluster(value, machine),
    ...checkStateFile(draft, configFile),
  ];
}

/** Returns the default name of a source, the last part of its directory; empty for the root directory. */
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

/** Returns whether the host of an address is this machine. */
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

/** A bot has one token: its files are compared as a whole. */
function checkTokens({ platform, sources }: ConfigDraft): Finding[] {
  return sources.flatMap(({ botId = platform.botId, token }, position) => {
    const first = sources.findIndex((other) => (other.botId ?? platform.botId) === botId);
    if (first === position || isDeepStrictEqual(sources[first]?.token, token)) return [];
    const message = `differs from that of sources[${first}], which is of the same bot; write the same token for both`;
    return [error(['sources', position, 'token'], message)];
  });
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
  // If the name of a source is invalid, it is unknown which names are right.
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

/** Checks `cluster` together with the host name of this machine. */
function checkCluster(value: unknown, machine: string): Finding[] {
  const isNamed = valueAt(value, ['cluster', 'host']) !== undefined;
  if (valueAt(value, ['cluster']) === undefined || isNamed || isHostName(machine)) return [];
  const [first = ''] = machine.split('.');
  const fix = isHostName(first) ? `write "host": ${quote(first)}` : `write ${HOST_RULE}`;
  const message = `is missing, and the host name of this machine, ${quote(machine)}, cannot be used instead; ${fix}`;
  return [error(['cluster', 'host'], message, 'absence')];
}

const EXAMPLE = '"conversation": { "channel": "channel", "tags": { "topic": "botsync" } }';

/** Checks the fields of `notify` against each other and against the rules. */
function checkNotify(value: unknown, { notify, rules }: ConfigDraft): Finding[] {
  if (valueAt(value, ['notify']) === undefined) return [];
  const isWritten = (field: string): boolean => valueAt(value, ['notify', field]) !== undefined;
  const findings: Finding[] = [];
  const [place, other] = ['conversationId', 'conversation', 'webhook'].filter(isWritten);
  if (place !== undefined && other !== undefined) {
    const message = `cannot be combined with ${other}; remove one of them`;
    findings.push(error(['notify', place], message));
  }
  if (place === undefined) {
    const message = `is missing; write the id of a conversation, or ${EXAMPLE}, or "webhook": "env:BOTSYNC_NOTIFY_WEBHOOK"`;
    findings.push(error(['notify', 'conversationId'], message, 'absence'));
  }
  const { announce = [], on } = notify;
  if (announce.length > 0 && !rules.some(givesPublicContent)) {
    const message =
      'these files would not be accessible, because no rule gives "public_content"; write a rule for them with "accessPolicies": ["public_content"]';
    findings.push(error(['notify', 'announce'], message));
  }
  if (announce.length === 0 && on?.length === 0)
    findings.push(warning(['notify', 'on'], 'is empty, so no notification is ever sent'));
  return findings;
}

function givesPublicContent({ accessPolicies }: ConfigDraft['rules'][number]): boolean {
  return accessPolicies?.includes('public_content') === true;
}
