import type { Config } from '../../config/config.ts';
import type { ObservedDaemon } from '../../library/observer.ts';
import { durationText } from '../../service/amounts.ts';

/** What a daemon is, as it is reported when it starts. */
export interface Greeting {
  /** For people, a line each. */
  readonly lines: readonly string[];
  /** For programs. */
  readonly fields: object;
}

/**
 * What a daemon says first: what runs, by which configuration, for which platform, and what it keeps up to date there.
 *
 * @param platform - its address, or what is in its place.
 */
export function greeting(config: Config, platform: string, version: string, node: string): Greeting {
  const sources = config.sources.map(({ name, directory, keyPrefix, botId }) => ({
    name,
    directory,
    keyPrefix,
    botId,
  }));
  return {
    lines: [
      `botsync ${version} (Node ${node})`,
      `configuration: ${config.file}`,
      `platform: ${platform}`,
      ...sources.map(
        ({ name, directory, keyPrefix, botId }) =>
          `source ${name}: ${directory} to bot ${botId}${keyPrefix === '' ? '' : `, keys ${keyPrefix}…`}`,
      ),
    ],
    fields: { version, node, config: config.file, platform, sources },
  };
}

/** What a daemon waits for when all was looked at. */
export function waitingFor({ config, situation }: ObservedDaemon): string {
  const { poll, pollIntervalMs, rescanMs } = config.watch;
  const watchedDirectories = situation?.activity.watchedDirectories ?? 0;
  if (poll) return `rescanning every ${durationText(pollIntervalMs)}; press Ctrl-C to stop`;
  const directories = watchedDirectories === 1 ? 'directory' : 'directories';
  return `watching ${watchedDirectories.toLocaleString('en')} ${directories} for changes, rescanning every ${durationText(rescanMs)}; press Ctrl-C to stop`;
}
