import type { Membership, WishRow } from '../../cluster/membership.ts';
import { isOfNotifications } from '../../domain/unit.ts';
import type { Log } from '../../service/logger.ts';
import { ANNOUNCE } from './announcement-outbox.ts';
import type { DeclaredUnits } from './declared-units.ts';
import type { HeldUnit } from './held-unit.ts';
import type { OwnUnit } from './own-units.ts';

/** What wishes are carried out with. */
export interface WishInput {
  readonly membership: Pick<Membership, 'takeWish'>;
  readonly declared: Pick<DeclaredUnits, 'find'>;
  readonly held: { readonly get: (id: number) => Pick<HeldUnit, 'isEnding' | 'release'> | undefined };
  readonly log: Pick<Log, 'error'>;
  /** Whether somebody is there to carry out what is wanted of a unit that this host holds: its daemon begins once it is loaded. */
  readonly isAtWork: (unit: OwnUnit) => boolean;
  /** Carries out what is wanted of the daemon of a unit. */
  readonly wished: (unit: OwnUnit, wish: WishRow) => void;
  /**
   * Told of all files that this host is to announce now, which stay on the list until it has taken note of them. No beat waits for that:
   * there may be many, and the leases of all units hang on it.
   */
  readonly announce: (wishes: readonly WishRow[]) => void;
}

/** Carries out what others want of units that this host works on: each wish by one host, and once. Throws `DatabaseError`. */
export async function carryOutWishes(
  wishes: readonly WishRow[],
  { membership, declared, held, log, isAtWork, wished, announce }: WishInput,
): Promise<void> {
  const announced: WishRow[] = [];
  for (const wish of wishes) {
    const own = declared.find(wish.unit);
    const unit = held.get(wish.unit);
    if (own === undefined || !(own.isPinned || unit?.isEnding === false)) continue;
    if (!isWish(own, wish)) {
      if (await membership.takeWish(wish.id))
        log.error(`what is wished of ${own.name} in the ledger cannot be read, and was deleted`);
      continue;
    }
    if (wish.kind === ANNOUNCE) {
      announced.push(wish);
      continue;
    }
    const isForDaemon = wish.kind !== 'release' && !own.isPinned;
    if (isForDaemon && !isAtWork(own)) continue;
    if (!(await membership.takeWish(wish.id))) continue;
    if (wish.kind === 'release') unit?.release();
    else wished(own, wish);
  }
  announce(announced);
}

/**
 * Whether it is one that a host wrote: somebody may have changed it in the database, and it must not end each host that reads it, nor
 * approve what nobody named.
 */
function isWish(own: OwnUnit, { kind, body }: WishRow): boolean {
  switch (kind) {
    case 'release':
      return true;
    case ANNOUNCE:
      return isOfNotifications(own);
    case 'approve':
    case 'rescan': {
      const { source, path = null } = (body ?? {}) as Record<string, unknown>;
      if (isOfNotifications(own) || typeof source !== 'string') return false;
      return path === null || typeof path === 'string';
    }
    default:
      return false;
  }
}
