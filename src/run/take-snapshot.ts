import type { Config } from '../config/config.ts';
import type { Snapshot, Subject, Trouble } from '../notify/trouble.ts';
import type { Figures } from '../notify/words.ts';
import type { StateReader } from '../store/state-reader.ts';
import { OVERDUE_AFTER_MS, overview } from '../sync/plan/overview.ts';
import { targetOf } from '../sync/sources/source.ts';

/** The part of a snapshot that the state file does not contain. */
export interface Health {
  readonly credentials:
    { readonly kind: 'refused'; readonly reason: string } | { readonly kind: 'taken' | 'unknown' };
  readonly reach: 'there' | 'lost' | 'unknown';
  /** True if due renewals have been started. */
  readonly hasBegun: boolean;
  /** Why the configuration on disk cannot be loaded; `null`: it can. */
  readonly configurationProblem: string | null;
}

/** Takes a snapshot of all troubles from a state file. `nowMs`: the platform's time. Cheap: does not read every row. */
export function takeSnapshot(
  state: StateReader,
  config: Config,
  platformName: string,
  nowMs: number,
  { credentials, reach, hasBegun, configurationProblem }: Health,
): Snapshot {
  const names = config.sources.map(({ name }) => name);
  const targets = new Map(
    config.sources.map((source) => [source.name, state.targetId(targetOf(config, source, platformName))]),
  );
  const troubles: Trouble[] = state.notices.failingFiles(targets).map((one) => ({ kind: 'failing', ...one }));
  const unknown: Subject[] = [];
  for (const [source, target] of targets) {
    const halt = state.source(source)?.halt ?? null;
    if (halt !== null) troubles.push({ kind: 'halted', source, halt });
    if (!hasBegun) unknown.push({ kind: 'expiring', source });
    else {
      const count = state.countOverdueRenewals(target, source, nowMs - OVERDUE_AFTER_MS);
      if (count > 0) troubles.push({ kind: 'expiring', source, count });
    }
  }
  if (configurationProblem !== null) troubles.push({ kind: 'configuration', reason: configurationProblem });
  if (credentials.kind === 'refused') troubles.push({ kind: 'credentials', reason: credentials.reason });
  if (credentials.kind === 'unknown') unknown.push({ kind: 'credentials', source: null });
  if (reach === 'lost') troubles.push({ kind: 'out-of-reach' });
  if (reach === 'unknown') unknown.push({ kind: 'out-of-reach', source: null });
  return { sources: names, troubles, unknown };
}

/** Returns the numbers for a summary. `nowMs`, `sinceMs`: epoch milliseconds. Reads every row. */
export function takeFigures(
  state: StateReader,
  config: Config,
  platformName: string,
  nowMs: number,
  sinceMs: number,
): Figures {
  const { sources } = overview(state, config, platformName, nowMs);
  const sent = state.notices.sentSince(sinceMs);
  const expiries = sources.flatMap(({ nextExpiry }) => (nextExpiry === null ? [] : [Date.parse(nextExpiry)]));
  return {
    files: sources.reduce((sum, { files }) => sum + files, 0),
    bytes: sources.reduce((sum, { bytes }) => sum + bytes, 0),
    sentFiles: sent.files,
    sentBytes: sent.bytes,
    nextExpiryMs: expiries.length === 0 ? null : Math.min(...expiries),
  };
}
