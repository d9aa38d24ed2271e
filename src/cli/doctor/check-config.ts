import { notifiesByChat } from '../../config/config.ts';
import { otherFormatBeside } from '../../config/find-config.ts';
import type { LoadedConfig } from '../../config/load-config.ts';
import { renderProblem, type ConfigProblem } from '../../config/problem.ts';
import { secretPlace } from '../credential-advice.ts';
import type { Credentials, SecretField } from '../../run/platform/credentials.ts';
import { broken, doubtful, fine, type Diagnosis } from './finding.ts';

export function reportProblems(problems: readonly ConfigProblem[]): Diagnosis[] {
  return problems.map((problem) => broken('config', renderProblem(problem), null));
}

/** Reports suspicious parts of a configuration, and what it lacks for the real platform. */
export function checkConfig({ config, file, warnings }: LoadedConfig, credentials: Credentials): Diagnosis[] {
  const lacking = credentials.lacking('files');
  // With `notify`, the check of notifications reports it.
  const isOptional = config.platform.chat !== null && !notifiesByChat(config);
  const chat = isOptional ? credentials.lacking('message') : [];
  const found = [
    ...reportProblems(lacking),
    // Only messages need it.
    ...[...chat, ...warnings].map((warning) => doubtful('config', renderProblem(warning), null)),
  ];
  if (found.some(({ finding }) => finding.status === 'fail')) return found;
  const counts = `${config.sources.length} ${config.sources.length === 1 ? 'source' : 'sources'}, ${config.rules.length} ${config.rules.length === 1 ? 'rule' : 'rules'}`;
  const unread = otherFormatBeside(file);
  const beside =
    unread === null ? [] : [doubtful('config', `${unread} is not read`, `move its contents to ${file}`)];
  return [fine('config', `${file}: ${counts}`), ...found, ...beside];
}

/**
 * Checks whether the secrets are where the configuration says; shows none of them.
 *
 * @param emulator - whether the emulator is used, which needs none.
 */
export function checkSecrets(
  { config, file }: LoadedConfig,
  credentials: Credentials,
  emulator: boolean,
): Diagnosis[] {
  // Without notifications by chat a sync does not need the key, and the service often has no access to it.
  const sourceTokens = config.sources.map((_, position) => `sources[${position}].token` as const);
  const missingKey = notifiesByChat(config) ? broken : doubtful;
  return [
    ...checkSecret(file, 'platform.token', credentials, broken),
    ...sourceTokens.flatMap((field) => checkSecret(file, field, credentials, broken)),
    ...checkSecret(file, 'platform.chat.userKey', credentials, missingKey),
    ...checkSecret(file, 'service.control', credentials, emulator ? doubtful : broken),
    ...checkSecret(file, 'notify.webhook', credentials, broken),
  ];
}

function checkSecret(
  file: string,
  field: SecretField,
  credentials: Credentials,
  missing: typeof broken | typeof doubtful,
): Diagnosis[] {
  const reference = credentials.referenceOf(field);
  const found = credentials.find(field);
  if (reference === null || found === null) return [];
  const where = `${file}: ${field}`;
  if (found.kind === 'problem') return [missing('secrets', `${where}: ${found.message}`, null)];
  return [
    fine('secrets', `${where} is in ${secretPlace(reference)}`),
    ...found.warnings.map((warning) => doubtful('secrets', `${where}: ${warning}`, null)),
  ];
}

/** The end of security fixes by major version: https://github.com/nodejs/release#release-schedule */
const END_OF_LIFE: Readonly<Record<number, string>> = {
  20: '2026-04-30',
  21: '2024-06-01',
  22: '2027-04-30',
  23: '2025-06-01',
  24: '2028-04-30',
  25: '2026-06-01',
  26: '2029-04-30',
};

/** Checks whether this version of Node still gets security fixes; an unknown one is newer than this botsync. */
export function checkNode(version: string, nowMs: number): Diagnosis[] {
  const line = Number(version.split('.')[0]);
  const lastDay = END_OF_LIFE[line];
  if (lastDay === undefined || nowMs <= Date.parse(`${lastDay}T23:59:59Z`))
    return [fine('node', `${version}${lastDay === undefined ? '' : `, supported until ${lastDay}`}`)];
  const supported = Object.entries(END_OF_LIFE)
    .filter(([other, day]) => Number(other) % 2 === 0 && nowMs <= Date.parse(day))
    .map(([other]) => other);
  const next = supported.length === 0 ? 'a newer one' : `Node ${supported.join(' or ')}`;
  return [
    doubtful(
      'node',
      `${version} has had no security fixes from the Node project since ${lastDay}`,
      `install ${next}, unless your distribution still maintains this one`,
    ),
  ];
}
