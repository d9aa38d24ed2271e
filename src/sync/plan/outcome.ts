import {
  absenceActionOf,
  isAskedFor,
  type AbsentFile,
  type AbsenceAction,
  type RemovalMode,
  type Absence,
  type FileRecord,
} from '../../domain/record.ts';
import type { Fingerprint } from '../../domain/fingerprint.ts';
import type { Obstacle } from '../../domain/obstacle.ts';
import { describeObstacle } from '../../words/obstacle.ts';
import { fileKey } from '../../domain/key.ts';
import type { FileEvent, Summary } from '../../domain/report.ts';
import type { Source } from '../sources/source.ts';
import type { PlanItem, PlannedSend } from './plan-item.ts';

/** The result of an item of a plan, for a pass, a dry run and `explain`. */
export interface ItemOutcome {
  /** The field of the summary that counts it. */
  readonly counts: Exclude<keyof Summary, 'unconfirmed' | 'bytes' | 'durationMs'> | null;
  readonly event: Pick<FileEvent, 'kind' | 'path' | 'key' | 'reason' | 'error'> | null;
  /**
   * Set if the platform does not have the file as it is: a deleted file with this fingerprint may be the same, renamed.
   */
  readonly unsent: Fingerprint | null;
  /** The new absence of the record; `undefined`: as before. */
  readonly absence: Absence | null | undefined;
  /** For a missing file. */
  readonly absenceAction: AbsenceAction | null;
}

/** Data of a record that a plan does not contain. */
export type KnownFile = AbsentFile & { readonly failure: string | null };

const NOTHING: ItemOutcome = {
  counts: null,
  event: null,
  unsent: null,
  absence: undefined,
  absenceAction: null,
};
const UNCHANGED: ItemOutcome = { ...NOTHING, counts: 'unchanged', absence: null };

/**
 * Returns the result of an item that sends nothing.
 *
 * @param known - the record of a held or absent file; `null`: it was deleted in the meantime.
 */
export function outcomeOf(
  item: Exclude<PlanItem, PlannedSend>,
  known: KnownFile | null,
  removals: RemovalMode,
): ItemOutcome {
  switch (item.kind) {
    case 'tick':
      return NOTHING;
    case 'unchanged':
      return UNCHANGED;
    case 'hold': {
      const { path, key, record } = item;
      if (record.differs === 'replaced') return replaced(path, key, record.fingerprint);
      const held = { ...NOTHING, unsent: record.fingerprint, absence: null };
      // Its failure was reported when it happened, and a retry is no news.
      if (record.state === 'failed') return { ...held, counts: 'failed' };
      const failure = known?.failure ?? 'unknown';
      if (record.state === 'synced') {
        // The platform has it, but the bot cannot find it.
        const event = { kind: 'confirm', path, key, reason: failure, error: failure } as const;
        return { ...held, unsent: null, counts: 'failed', event };
      }
      const reason = `refused before: ${failure}`;
      return { ...held, counts: 'refused', event: { kind: 'refuse', path, key, reason } };
    }
    case 'refuse':
    case 'problem': {
      const { kind, path, key, reason, fingerprint = null } = item;
      const counts = kind === 'refuse' ? 'refused' : 'problems';
      const event = { kind, path, key, reason: describeObstacle(reason) };
      return { ...NOTHING, counts, event, unsent: fingerprint };
    }
    case 'skip':
      return { ...passedOver(item.path, item.key, describeObstacle(item.reason)), absence: 'kept' };
    case 'pass-over':
      return passedOver(item.path, null, item.reason);
    case 'absent':
      return outcomeOfAbsent(item.absence, known, removals);
  }
}

function outcomeOfAbsent(
  absence: Absence | null,
  known: KnownFile | null,
  removals: RemovalMode,
): ItemOutcome {
  const absenceAction = known === null ? 'unknown' : absenceActionOf(known, absence, removals);
  // A file that could not be checked is reported as a problem, and neither kept nor removed.
  if (absenceAction === 'unknown') return { ...NOTHING, absenceAction };
  if (absenceAction === 'keep') return { ...NOTHING, counts: 'kept', absence: 'kept', absenceAction };
  // A requested removal stays recorded until it is done.
  if (absenceAction === 'remove' && isAskedFor(known?.absence ?? null)) return { ...NOTHING, absenceAction };
  return { ...NOTHING, absence, absenceAction };
}

/**
 * Returns the result of a file that may have to be sent, if nothing fails.
 *
 * @param isSame - it has the recorded content after all, or that of the platform's file.
 * @param unreadable - why it cannot be read.
 */
export function outcomeOfSend(item: PlannedSend, isSame: boolean, unreadable: Obstacle | null): ItemOutcome {
  const { path, key, fingerprint, record } = item;
  if (isSame && item.found === null)
    return record?.differs === 'replaced' ? replaced(path, key, fingerprint) : UNCHANGED;
  if (unreadable !== null) {
    const event = { kind: 'problem', path, key, reason: describeObstacle(unreadable) } as const;
    return { ...NOTHING, counts: 'problems', event, unsent: fingerprint, absence: null };
  }
  const { kind, counts, reason } = isSame ? ADOPTED : kindOfSend(item);
  return { ...NOTHING, counts, event: { kind, path, key, reason }, absence: null };
}

/** Returns the result of an unchanged file that somebody else replaced on the platform. */
function replaced(path: string, key: string, unsent: Fingerprint): ItemOutcome {
  const event = { kind: 'problem', path, key, reason: describeObstacle({ kind: 'replaced' }) } as const;
  return { ...NOTHING, counts: 'problems', event, unsent, absence: null };
}

/** Returns the report of a send, and its count on success. */
export function kindOfSend({ kind, reason, isInPlace, record }: PlannedSend) {
  if (reason === 'renewal-due') return { kind: 'renew', counts: 'renewed', reason } as const;
  if (isInPlace) return { kind: 'update', counts: 'updated', reason } as const;
  const changed = record === null ? 'new' : 'changed';
  return { kind: 'upload', counts: 'uploaded', reason: kind === 'verify' ? changed : reason } as const;
}

/** Report and count of a file without a record that the platform already had. */
export const ADOPTED = { kind: 'adopt', counts: 'adopted', reason: 'on the platform already' } as const;

function passedOver(path: string, key: string | null, reason: string): ItemOutcome {
  return { ...NOTHING, counts: 'skipped', event: { kind: 'skip', path, key, reason } };
}

export function whyRemoved({ config }: Source, { path, key, absence }: FileRecord): string {
  if (isAskedFor(absence)) return absence;
  return fileKey(config.keyPrefix, path) === key ? 'removed' : 'key-changed';
}
