import prettyBytes from 'pretty-bytes';
import { describeHalt } from '../../words/halt.ts';
import { placeOf } from '../../words/place.ts';
import { EXIT } from '../../domain/exit-code.ts';
import type { Config } from '../../config/config.ts';
import type { StateReader } from '../../store/state-reader.ts';
import { systemClock } from '../../service/system-clock.ts';
import type { FileGroup } from '../../domain/status.ts';
import { listFiles, type FileEntry, type ListedFile } from '../../sync/plan/list-files.ts';
import { Turns } from '../../sync/plan/turns.ts';
import { findSources } from '../../sync/sources/source.ts';
import { commandEnd, type GlobalOptions } from '../global-options.ts';
import { load, platformName } from '../../run/run-base.ts';
import { withRecords } from '../../run/read-records.ts';
import { printNoService } from '../command-daemon.ts';
import { print, printError, shown, printJson } from '../render/output.ts';
import { readSelection, type Selection } from '../arguments.ts';
import { findOrphans } from '../../run/verify/compare.ts';
import { EventFeed } from '../../run/events.ts';
import { stopBy } from '../../run/stop.ts';
import type { LoadedConfig } from '../../config/load-config.ts';
import { listenForStop } from '../signals.ts';
import { UsageError } from '../usage-error.ts';
import { PassView } from '../render/pass-view.ts';

export interface LsOptions extends GlobalOptions {
  readonly glob: string | undefined;
  readonly kept: boolean;
  readonly failed: boolean;
  readonly unindexed: boolean;
  readonly orphans: boolean;
  readonly toRemove: boolean;
}

/** Asks the bots, until a signal ends the command. */
async function withOrphans(
  options: GlobalOptions,
  loaded: LoadedConfig,
  onOrphan: Parameters<typeof findOrphans>[3],
): Promise<void> {
  const view = new PassView(options);
  const signals = listenForStop();
  const stop = stopBy([signals.stop]);
  const base = { target: options, env: process.env, log: view.log, feed: new EventFeed([view.listener]) };
  try {
    await findOrphans(base, loaded, stop, onOrphan);
  } finally {
    stop.release();
    signals.release();
  }
}

/** Groups of files that are not in sync. */
const FAILED = new Set<FileGroup>(['sending', 'waiting', 'failed', 'refused', 'problem', 'unsearchable']);

/** `botsync ls`: files with their state here and on the platform. Returns the exit code; throws `UsageError`. */
export async function ls(options: LsOptions): Promise<number> {
  const loaded = load(options);
  const { config } = loaded;
  const name = platformName(options, config);
  const sources = findSources(config, name);
  const matches = options.glob === undefined ? () => true : readSelection('ls', options.glob, sources);
  const { kept, failed, unindexed, orphans, toRemove } = options;
  let matched = 0;
  const isMatch: Selection = (file) => {
    if (!matches(file)) return false;
    matched += 1;
    return true;
  };
  const isWanted = ({ place, platform, group, entry }: ListedFile): boolean =>
    isMatch(place) &&
    (!(kept || failed || unindexed || toRemove) ||
      (kept && platform === 'kept') ||
      (failed && FAILED.has(group)) ||
      (unindexed && entry().isUnindexed) ||
      (toRemove && platform === 'to-remove'));
  const isOrphansOnly = orphans && !(kept || failed || unindexed || toRemove);
  if (!isOrphansOnly)
    await withRecords({ loaded, platformName: name, env: process.env }, async ({ reader, holder }) => {
      const turns = new Turns(systemClock);
      const nowMs = Date.now() + reader.platformAheadMs();
      let isEmpty = true;
      for (const listed of listFiles({ config, platformName: name, sources, state: reader, nowMs })) {
        isEmpty = false;
        if (isWanted(listed)) show(listed.entry(), options.json);
        const turn = turns.step();
        if (turn !== null) await turn;
      }
      if (isEmpty && !orphans && reader.overview.lastPass() === null)
        throw new UsageError(
          `no pass has ended yet, so no file is on record; run: ${holder === null ? 'botsync sync --once' : 'botsync status'}${commandEnd(options)}`,
          EXIT.incomplete,
        );
      if (!options.json) {
        printHalts(config, reader);
        printNoService(holder, reader);
      }
    });
  if (orphans)
    await withOrphans(options, loaded, ({ source, path, key }) => {
      if (!isMatch({ source, path: path ?? key })) return;
      if (options.json) printJson({ kind: 'file', source, path, key, local: 'gone', platform: 'orphan' });
      else print(line('orphan', placeOf(source, path ?? key), 'unknown here'));
    });
  if (options.glob !== undefined && matched === 0) printError(`no file matches ${shown(options.glob)}`);
  return EXIT.ok;
}

/** Prints which sources are halted: their list is as old as the halt. */
function printHalts({ sources }: Config, state: StateReader): void {
  for (const { name } of sources) {
    const halt = state.source(name)?.halt ?? null;
    if (halt !== null) printError(`${shown(name)} is halted: ${shown(describeHalt(halt))}`);
  }
}

/** Returns a file as a line of JSON shows it. */
export function entryForPrograms(entry: FileEntry): object {
  const { source, path, key, botId, local, platform, bytes, expiresAt, reason } = entry;
  return { kind: 'file', source, path, key, botId, local, platform, bytes, expiresAt, reason };
}

function show(entry: FileEntry, json: boolean): void {
  if (json) {
    printJson(entryForPrograms(entry));
    return;
  }
  const { source, path, key, botId, local, platform, bytes, expiresAt, reason } = entry;
  const about = [
    prettyBytes(bytes),
    ...(entry.isUnderOwnKey ? [] : [`key ${key ?? ''} of ${botId}`]),
    ...(local === 'gone' ? ['no local file'] : []),
    ...(expiresAt === null ? [] : [`until ${expiresAt}`]),
    ...(reason === null ? [] : [reason]),
  ];
  print(line(platform, placeOf(source, path), about.join('; ')));
}

function line(platform: string, file: string, about: string): string {
  return `${platform.padEnd(14)}${shown(file)}  (${shown(about)})`;
}
