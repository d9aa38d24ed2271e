import type { Config, SecretReference } from '../config/config.ts';
import { alike, type GlobalOptions } from './global-options.ts';

/**
 * What to do when the platform refuses the credentials of a daemon: where its token is from, and how the daemon takes up
 * another one. What is in the environment of a process stays there, whatever is changed outside.
 */
export function credentialAdvice(
  config: Config,
  options: Pick<GlobalOptions, 'config' | 'emulator'>,
): string {
  const { token } = config.platform;
  const { reloadOnChange } = config.service;
  const others = reloadOnChange
    ? 'changes of the configuration take effect automatically'
    : `after changing the configuration run: botsync reload${alike(options)}`;
  const checked = 'check platform.token, platform.workspaceId and the bot ids';
  return token === null
    ? `${checked}; ${others}`
    : `${checked}; ${tokenAdvice(token, reloadOnChange, alike(options))}, ${others}`;
}

/** A file that the platform took nothing of. */
export interface RefusedFile {
  /** The name of its source. */
  readonly source: string;
  /** Why, beginning with the status of the answer. */
  readonly error: string;
}

/**
 * What to check after a pass that the platform refused, by the files that failed: the bot, where all that it said is that it
 * does not know it (404), else the credentials, and where they are from.
 */
export function refusalAdvice(
  { platform, sources }: Config,
  refused: readonly RefusedFile[],
  options: Pick<GlobalOptions, 'config' | 'emulator'>,
): string {
  const platformName = `${platform.baseUrl} (platform.baseUrl)`;
  const unknown = new Set(refused.flatMap(({ source, error }) => (error.startsWith('404') ? [source] : [])));
  const bots = new Set(sources.flatMap(({ name, botId }) => (unknown.has(name) ? [botId] : [])));
  const doctor = `or run: botsync doctor${alike(options)}`;
  if (bots.size > 0 && !refused.some(({ error }) => /^40[13]/u.test(error))) {
    const which = `the bot${bots.size === 1 ? '' : 's'} ${[...bots].join(', ')}`;
    return `${platformName} does not know ${which}: check botId and platform.workspaceId, ${doctor}`;
  }
  const { token } = platform;
  const place = token === null ? '' : ` (from ${secretPlace(token)})`;
  return `${platformName} refuses the credentials: check platform.token${place}, platform.workspaceId and the bot ids, ${doctor}`;
}

/** Where a secret is, in words. */
export function secretPlace(reference: SecretReference): string {
  switch (reference.kind) {
    case 'env':
      return `the environment variable ${reference.name}`;
    case 'file':
      return reference.path;
    case 'credential':
      return `the credential ${reference.name}`;
  }
}

function tokenAdvice(reference: SecretReference, reloadOnChange: boolean, rest: string): string {
  const place = secretPlace(reference);
  switch (reference.kind) {
    case 'env':
    case 'credential':
      return `the token is from ${place}, which a running process cannot reread: to change the token, restart botsync`;
    case 'file':
      return reloadOnChange
        ? `the token is in ${place}, and a new one there takes effect automatically`
        : `the token is in ${place}; after changing it run: botsync reload${rest}`;
  }
}
