import { otherFormatBeside } from '../../config/find-config.ts';
import type { LoadedConfig } from '../../config/load-config.ts';
import { renderProblem, type ConfigProblem } from '../../config/problem.ts';
import { secretPlace } from '../credential-advice.ts';
import type { Credentials, SecretField } from '../../library/platform/credentials.ts';
import { broken, doubtful, fine, type Diagnosis } from './finding.ts';

/** A configuration that cannot be used, one diagnosis a problem. */
export function reportProblems(problems: readonly ConfigProblem[]): Diagnosis[] {
  return problems.map((problem) => broken('config', renderProblem(problem), null));
}

/** What is probably not meant in a configuration, and what it lacks for the real platform. */
export function checkConfig({ config, file, warnings }: LoadedConfig, credentials: Credentials): Diagnosis[] {
  const lacking = credentials.lacking('files');
  // With `notify` it is looked at there.
  const isOptional = config.platform.chat !== null && config.notify === null;
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
 * Whether the secrets that the config names are where it says. None of them is shown.
 *
 * @param emulator - whether the emulator is used, which needs none.
 */
export function checkSecrets(
  { config, file }: LoadedConfig,
  credentials: Credentials,
  emulator: boolean,
): Diagnosis[] {
  // Without `notify` a sync does without the key, and the service has often no right to it.
  const missingKey = config.notify === null ? doubtful : broken;
  return [
    ...checkSecret(file, 'platform.token', credentials, broken),
    ...checkSecret(file, 'platform.chat.userKey', credentials, missingKey),
    ...checkSecret(file, 'service.control', credentials, emulator ? doubtful : broken),
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
