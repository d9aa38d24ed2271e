import { join } from 'node:path';
import { emulatorDirectory, type Config } from '../config/config.ts';
import { loadConfig, type LoadedConfig } from '../config/load-config.ts';
import type { RunTarget } from './run-base.ts';
import { configurationError } from './sync-error.ts';

/** Loads a configuration. Throws `SyncError` with all that is wrong with it. */
export function load({ config: file, emulator }: RunTarget): LoadedConfig {
  const loaded = loadConfig(file);
  if (loaded.kind === 'invalid') throw configurationError(loaded.problems);
  return emulator ? { ...loaded, config: withEmulatorState(loaded.config) } : loaded;
}

/** What the embedded emulator is called in records: its address is another one each time. */
const EMULATOR_NAME = 'emulator';

/** What the platform of a run is called in records. */
export function platformName(options: RunTarget, config: Config): string {
  return options.emulator ? EMULATOR_NAME : config.platform.baseUrl;
}

/** Runs against the emulator have a state file of their own, and are those of a host that is alone: what is real is never touched. */
function withEmulatorState(config: Config): Config {
  return {
    ...config,
    cluster: null,
    stateFile: emulatorStateFile(config),
  };
}

/** The state file of runs against the emulator. */
export function emulatorStateFile(config: Pick<Config, 'file'>): string {
  return join(emulatorDirectory(config), 'state.db');
}
