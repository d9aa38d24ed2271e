import { quoteForShell } from '../../config/problem.ts';
import type { LoadedConfig } from '../../config/load-config.ts';
import type { LoggedEvent } from '../../domain/report.ts';
import type { FileRecord } from '../../domain/record.ts';
import { withRecords } from '../../run/read-records.ts';
import { withStateFile } from '../../run/read-state-file.ts';
import { platformName } from '../../run/run-base.ts';
import { entryOf, type FileEntry, type ListInput } from '../../sync/plan/list-files.ts';
import { findSources, targetOf, type FoundSource } from '../../sync/sources/source.ts';
import { describeFileHistory, type FileStanding } from '../../words/file-history.ts';
import { placeOf } from '../../words/place.ts';
import { isDirectory, locateFile } from '../arguments.ts';
import { printNoService } from '../command-daemon.ts';
import type { GlobalOptions } from '../global-options.ts';
import { print, printJson } from '../render/output.ts';
import { UsageError } from '../usage-error.ts';
import { entryForPrograms } from './ls.ts';

interface FileHistoryInput {
  /** As the user wrote it. */
  readonly path: string;
  /** Of the events, as the user wrote it. */
  readonly span: string;
  readonly spanMs: number;
}

/** Prints the events of one file and its record. Throws `UsageError`. */
export async function showFileHistory(
  loaded: LoadedConfig,
  options: GlobalOptions,
  { path: written, span, spanMs }: FileHistoryInput,
): Promise<void> {
  const { config } = loaded;
  const name = platformName(options, config);
  if (isDirectory(written))
    throw new UsageError(
      `${written} is a directory; name a file, or list those below it: botsync ls ${quoteForShell(written)}`,
    );
  const sources = findSources(config, name);
  const { found, path } = locateFile(written, sources);
  const source = found.config.name;
  const sinceMs = Date.now() - spanMs;
  // Events belong to this host, also in a cluster.
  const events = await withStateFile(config.stateFile, ({ reader }) =>
    reader.history.files.of(source, path, sinceMs),
  );
  await withRecords({ loaded, platformName: name, env: process.env }, ({ reader, holder }) => {
    const target = reader.targetId(targetOf(config, found.config, name));
    const record = reader.recordsAt(target, source, path).current;
    const nowMs = Date.now() + reader.platformAheadMs();
    const input = { config, platformName: name, sources, state: reader, nowMs };
    const standing = record === null || record.path !== path ? null : standingOf(record, found, input);
    if (options.json) {
      for (const event of events) printJson(forPrograms(event));
      if (standing !== null) {
        const { sentAt, confirmedAt, renewAt, missingSince, removeAt } = standing;
        printJson({ ...entryForPrograms(standing), sentAt, confirmedAt, renewAt, missingSince, removeAt });
      }
      return;
    }
    print(describeFileHistory(placeOf(source, path), standing, events, span).join('\n'));
    printNoService(holder, reader);
  });
}

function forPrograms({ atMs, event }: LoggedEvent): object {
  return { ...event, at: new Date(atMs).toISOString() };
}

function standingOf(record: FileRecord, found: FoundSource, input: ListInput): FileEntry & FileStanding {
  const { config, state } = input;
  const { verdict, sentAtMs, askedAtMs, renewAtMs, absence, absentSinceMs } = record;
  const entry = entryOf(record, found, input);
  const missingSinceMs = absence === null ? null : absentSinceMs;
  const isHalted = (state.source(record.source)?.halt ?? null) !== null;
  const isDue = entry.platform === 'to-remove' && missingSinceMs !== null && !isHalted;
  return {
    ...entry,
    sentAt: momentOf(sentAtMs),
    confirmedAt: momentOf(verdict === null ? null : askedAtMs),
    renewAt: momentOf(renewAtMs),
    missingSince: momentOf(missingSinceMs),
    removeAt: momentOf(isDue ? missingSinceMs + config.removals.delayMs : null),
  };
}

function momentOf(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}
