import type { Config, SecretReference } from '../config/config.ts';
import type { RefusedSource } from '../run/api.ts';
import { commandEnd, type GlobalOptions } from './global-options.ts';

/**
 * Advice when the platform refuses the credentials of a daemon: where its token is stored, and how the daemon gets
 * another one. The environment of a running process cannot be changed from outside.
 */
export function credentialAdvice(
  config: Config,
  options: Pick<GlobalOptions, 'config' | 'emulator'>,
): string {
  const { token } = config.platform;
  const { reloadOnChange } = config.service;
  const others = reloadOnChange
    ? 'changes of the configuration take effect automatically'
    : `after changing the configuration run: botsync reload${commandEnd(options)}`;
  const checked = `check ${tokenFields(config)}, platform.workspaceId and the bot ids`;
  return token === null
    ? `${checked}; ${others}`
    : `${checked}; ${tokenAdvice(token, reloadOnChange, commandEnd(options))}, ${others}`;
}

/**
 * Advice after the platform refused a pass or a plan: about the bot if it is unknown to the platform (404), else
 * about the credentials.
 */
export function refusalAdvice(
  config: Config,
  refused: readonly RefusedSource[],
  options: Pick<GlobalOptions, 'config' | 'emulator'>,
): string {
  const { platform, sources } = config;
  const platformName = `${platform.baseUrl} (platform.baseUrl)`;
  const unknown = new Set(refused.filter(({ isUnknownBot }) => isUnknownBot).map(({ source }) => source));
  const bots = new Set(sources.flatMap(({ name, botId }) => (unknown.has(name) ? [botId] : [])));
  const doctor = `or run: botsync doctor${commandEnd(options)}`;
  if (bots.size > 0 && refused.every(({ isUnknownBot }) => isUnknownBot)) {
    const which = `the bot${bots.size === 1 ? '' : 's'} ${[...bots].join(', ')}`;
    return `${platformName} does not know ${which}: check botId and platform.workspaceId, ${doctor}`;
  }
  const { token } = platform;
  const place = token === null || hasSourceTokens(config) ? '' : ` (from ${secretPlace(token)})`;
  return `${platformName} refuses the credentials: check ${tokenFields(config)}${place}, platform.workspaceId and the bot ids, ${doctor}`;
}

function hasSourceTokens({ sources }: Config): boolean {
  return sources.some(({ token }) => token !== null);
}

function tokenFields(config: Config): string {
  return hasSourceTokens(config) ? 'platform.token, the tokens of the sources' : 'platform.token';
}

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
