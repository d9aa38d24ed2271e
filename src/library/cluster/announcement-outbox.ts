import type { Membership } from '../../cluster/membership.ts';
import type { Announcement } from '../../notify/announcements.ts';
import type { NoticeStore } from '../../state/notices.ts';

/** The kind of wish that has a file announced. */
export const ANNOUNCE = 'announce';

/** A state file whose deliveries are announced. */
export interface Announced {
  readonly notices: NoticeStore;
  /** The number that the ledger has for a target of the state file; `null`: it has none yet. */
  readonly targetInLedger: (target: number) => number | null;
  /** Whether the state file is still in use: it may be closed while the ledger is waited for. */
  readonly isInUse: () => boolean;
}

/**
 * Passes files that are to be announced on to the host that tells people. One whose host ends in the midst of it is passed on twice,
 * and announced once. Throws `StateFileError`, `DatabaseError`.
 *
 * @param unit - of the notifications.
 */
export async function passOnAnnouncements(
  membership: Pick<Membership, 'wish'>,
  unit: number,
  { notices, targetInLedger, isInUse }: Announced,
): Promise<number> {
  let passedOn = 0;
  for (const waiting of notices.pendingAnnouncements()) {
    const target = targetInLedger(waiting.target);
    if (target === null) continue;
    const { key, sha256, url, notedAtMs } = waiting;
    await membership.wish(unit, ANNOUNCE, { target, key, sha256: sha256.toString('hex'), url, notedAtMs });
    passedOn += 1;
    if (!isInUse()) break;
    notices.closeAnnouncement(waiting);
  }
  return passedOn;
}

/** What `passOnAnnouncements` passed on; `null`: it is none of that. */
export function announcementIn(body: unknown): Announcement | null {
  const { target, key, sha256, url, notedAtMs } = (body ?? {}) as Record<string, unknown>;
  if (typeof target !== 'number' || typeof key !== 'string' || typeof url !== 'string') return null;
  if (typeof sha256 !== 'string' || !isCount(notedAtMs)) return null;
  return { target, key, sha256: Buffer.from(sha256, 'hex'), url, notedAtMs };
}

/** Whether a state file takes it as a number. */
function isCount(told: unknown): told is number {
  return Number.isSafeInteger(told);
}
