import type { SecretReference } from '../../config/config.ts';
import type { LoadedConfig } from '../../config/load-config.ts';
import { renderProblem, type ConfigProblem } from '../../config/problem.ts';
import { requirePlatform } from '../../config/require-platform.ts';
import { resolveSecret } from '../../config/secrets.ts';
import { broken, doubtful, fine, type Diagnosis } from './finding.ts';

/** A configuration that cannot be used, one diagnosis a problem. */
export function reportProblems(problems: readonly ConfigProblem[]): Diagnosis[] {
  return problems.map((problem) => broken('config', renderProblem(problem), null));
}

/** What is probably not meant in a configuration, and what it lacks for the real platform. */
export function checkConfig(loaded: LoadedConfig, useEmulator: boolean): Diagnosis[] {
  const { config, file, warnings } = loaded;
  const lacking = useEmulator ? [] : requirePlatform(loaded, 'files');
  // With `notify` it is looked at there.
  const isOptional = config.platform.chat !== null && config.notify === null;
  const chat = useEmulator || !isOptional ? [] : requirePlatform(loaded, 'message');
  const found = [
    ...reportProblems(lacking),
    // Only messages need it.
    ...[...chat, ...warnings].map((warning) => doubtful('config', renderProblem(warning), null)),
  ];
  if (found.some(({ finding }) => finding.status === 'fail')) return found;
  const counts = `${config.sources.length} ${config.sources.length === 1 ? 'source' : 'sources'}, ${config.rules.length} ${config.rules.length === 1 ? 'rule' : 'rules'}`;
  return [fine('config', `${file}: ${counts}`), ...found];
}

/** Whether the secrets that the config names are where it says. None of them is shown. */
export function checkSecrets({ config, file }: LoadedConfig): Diagnosis[] {
  const { token, chat } = config.platform;
  const missingKey = config.notify === null ? doubtful : broken;
  return [
    ...(token === null ? [] : checkSecret(`${file}: platform.token`, token, broken)),
    // Without `notify` a sync does without it, and the service has often no right to it.
    ...(chat === null ? [] : checkSecret(`${file}: platform.chat.userKey`, chat.userKey, missingKey)),
  ];
}

/** Whether the token is where the config says. */
export function hasToken({ config }: LoadedConfig): boolean {
  const { token } = config.platform;
  return token !== null && resolveSecret(token, process.env).kind === 'ok';
}

function checkSecret(
  field: string,
  reference: SecretReference,
  missing: typeof broken | typeof doubtful,
): Diagnosis[] {
  const resolved = resolveSecret(reference, process.env);
  if (resolved.kind === 'problem') return [missing('secrets', `${field}: ${resolved.message}`, null)];
  return [
    fine('secrets', `${field} is in ${placeOf(reference)}`),
    ...resolved.warnings.map((warning) => doubtful('secrets', `${field}: ${warning}`, null)),
  ];
}

function placeOf(reference: SecretReference): string {
  switch (reference.kind) {
    case 'env':
      return `the environment variable ${reference.name}`;
    case 'file':
      return reference.path;
    case 'credential':
      return `the credential ${reference.name}`;
  }
}
