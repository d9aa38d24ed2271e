import { quoteForShell } from '../config/problem.ts';
import type { Log } from '../service/logger.ts';
import { EventFeed } from './events.ts';
import { join } from 'node:path';
import { emulatorDirectory, type Config } from '../config/config.ts';
import { loadConfig, type LoadedConfig } from '../config/load-config.ts';
import { configurationError } from './sync-error.ts';

export interface RunBase {
  readonly target: RunTarget;
  readonly env: NodeJS.ProcessEnv;
  readonly log: Log;
  readonly feed: EventFeed;
}

export interface RunTarget {
  /** The configuration file as named by the caller. */
  readonly config: string;
  readonly emulator: boolean;
}

/** The command that approves a halt, for messages. */
export function approveCommand({ config, emulator }: RunTarget): string {
  return `run: botsync approve${emulator ? ' --emulator' : ''} -c ${quoteForShell(config)}`;
}

/** Loads a configuration. Throws `SyncError` with everything that is wrong with it. */
export function load({ config: file, emulator }: RunTarget): LoadedConfig {
  const loaded = loadConfig(file);
  if (loaded.kind === 'invalid') throw configurationError(loaded.problems);
  return emulator ? { ...loaded, config: withEmulatorState(loaded.config) } : loaded;
}

/** The name of the embedded emulator in records: its address changes with each run. */
const EMULATOR_NAME = 'emulator';

/** Returns the name of the platform in records. */
export function platformName(options: RunTarget, config: Config): string {
  return options.emulator ? EMULATOR_NAME : config.platform.baseUrl;
}

/** Gives runs against the emulator a state file of their own, and no cluster: real records are never touched. */
function withEmulatorState(config: Config): Config {
  return {
    ...config,
    cluster: null,
    stateFile: emulatorStateFile(config),
  };
}

export function emulatorStateFile(config: Pick<Config, 'file'>): string {
  return join(emulatorDirectory(config), 'state.db');
}
