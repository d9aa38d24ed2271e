import { placeOf } from '../../words/place.ts';
import prettyBytes from 'pretty-bytes';
import { EXIT } from '../../domain/exit-code.ts';
import type { Config } from '../../config/config.ts';
import type { StateReader } from '../../state/state-reader.ts';
import { compilePattern } from '../../domain/rules.ts';
import { systemClock } from '../../service/system-clock.ts';
import { listFiles, type FileEntry, type PlatformState } from '../../sync/plan/list-files.ts';
import { Turns } from '../../sync/plan/turns.ts';
import { findSources } from '../../sync/sources/source.ts';
import type { GlobalOptions } from '../global-options.ts';
import { load, platformName } from '../../library/load.ts';
import { forThisHost } from '../../library/for-this-host.ts';
import { withRecords } from '../../library/read-records.ts';
import { print, printError, shown } from '../render/output.ts';
import { printJson } from '../render/print-json.ts';
import { UsageError } from '../usage-error.ts';
import { findOrphans } from '../../library/verify/find-orphans.ts';
import { EventFeed } from '../../library/events.ts';
import { stopBy } from '../../library/stop.ts';
import type { LoadedConfig } from '../../config/load-config.ts';
import { listenForStop } from '../stop-listener.ts';
import { PassView } from '../render/pass-view.ts';

/** Options of `botsync ls`. */
export interface LsOptions extends GlobalOptions {
  readonly glob: string | undefined;
  readonly kept: boolean;
  readonly failed: boolean;
  readonly unindexed: boolean;
  readonly orphans: boolean;
  readonly toRemove: boolean;
}

/** Asks the bots, until the user asks the command to end. */
async function withOrphans(
  options: GlobalOptions,
  loaded: LoadedConfig,
  onOrphan: Parameters<typeof findOrphans>[3],
): Promise<void> {
  const view = new PassView(options);
  const signals = listenForStop();
  const stop = stopBy([signals.stop]);
  const base = { target: options, env: process.env, log: view.log, feed: new EventFeed([view]) };
  try {
    await findOrphans(base, loaded, stop, onOrphan);
  } finally {
    stop.release();
    signals.release();
  }
}

/** How a file stands that is not in sync. */
const FAILED = new Set<PlatformState>([
  'failed',
  'refused',
  'unsearchable',
  'different',
  'replaced',
  'none',
  'sending',
]);

/** `botsync ls`: files with what is known of them here and on the platform. Returns the exit code; throws `UsageError`. */
export async function ls(options: LsOptions): Promise<number> {
  const loaded = load(options);
  const config = forThisHost(loaded.config);
  const matches = matcherOf(options.glob);
  const { kept, failed, unindexed, orphans, toRemove } = options;
  let matched = 0;
  const isMatch = (path: string): boolean => {
    if (!matches(path)) return false;
    matched += 1;
    return true;
  };
  const isWanted = (entry: FileEntry): boolean =>
    isMatch(entry.path) &&
    (!(kept || failed || unindexed || toRemove) ||
      (kept && entry.platform === 'kept') ||
      (failed && FAILED.has(entry.platform)) ||
      (unindexed && entry.isUnindexed) ||
      (toRemove && entry.platform === 'to-remove'));
  const name = platformName(options, config);
  const isOrphansOnly = orphans && !(kept || failed || unindexed || toRemove);
  if (!isOrphansOnly)
    await withRecords({ loaded, platformName: name, env: process.env }, async ({ reader }) => {
      const turns = new Turns(systemClock);
      const nowMs = Date.now() + reader.platformAheadMs();
      const sources = findSources(config, name);
      for (const entry of listFiles({ config, platformName: name, sources, state: reader, nowMs })) {
        if (isWanted(entry)) show(entry, options.json);
        const turn = turns.step();
        if (turn !== null) await turn;
      }
      if (!options.json) tellHalts(config, reader);
    });
  if (orphans)
    await withOrphans(options, loaded, ({ source, path, key }) => {
      if (!isMatch(path ?? key)) return;
      if (options.json) printJson({ kind: 'file', source, path, key, local: 'gone', platform: 'orphan' });
      else print(line('orphan', placeOf(source, path ?? key), 'unknown here'));
    });
  if (options.glob !== undefined && matched === 0) printError(`no file matches ${shown(options.glob)}`);
  return EXIT.ok;
}

/** Of a halted source the list is as old as its halt. */
function tellHalts({ sources }: Config, state: StateReader): void {
  for (const { name } of sources) {
    const halted = state.source(name)?.halted ?? null;
    if (halted !== null) printError(`${shown(name)} is halted: ${shown(halted)}`);
  }
}

function show(entry: FileEntry, json: boolean): void {
  const { source, path, key, local, platform, bytes, expiresAt, reason } = entry;
  if (json) {
    printJson({ kind: 'file', source, path, key, local, platform, bytes, expiresAt, reason });
    return;
  }
  const about = [
    prettyBytes(bytes),
    ...(local === 'gone' ? ['no local file'] : []),
    ...(expiresAt === null ? [] : [`until ${expiresAt}`]),
    ...(reason === null ? [] : [reason]),
  ];
  print(line(platform, placeOf(source, path), about.join('; ')));
}

function line(platform: string, file: string, about: string): string {
  return `${platform.padEnd(14)}${shown(file)}  (${shown(about)})`;
}

function matcherOf(glob: string | undefined): (path: string) => boolean {
  if (glob === undefined) return () => true;
  try {
    const matches = compilePattern(glob);
    return (path) => matches(path.normalize('NFC'));
  } catch (error) {
    throw new UsageError(`${glob}: no pattern: ${(error as Error).message.slice(0, 200)}`);
  }
}
