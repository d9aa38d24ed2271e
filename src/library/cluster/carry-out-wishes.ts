import type { Membership, WishRow } from '../../cluster/membership.ts';
import type { Log } from '../../service/logger.ts';
import type { DeclaredUnits } from './declared-units.ts';
import type { HeldUnit } from './held-unit.ts';
import type { OwnUnit } from './own-units.ts';

/** What wishes are carried out with. */
export interface WishInput {
  readonly membership: Pick<Membership, 'takeWish'>;
  readonly declared: Pick<DeclaredUnits, 'find'>;
  readonly held: {
    readonly get: (id: number) => Pick<HeldUnit, 'grant' | 'isEnding' | 'release'> | undefined;
  };
  readonly log: Pick<Log, 'error'>;
  /** Whether somebody is there to carry out what is wanted of a unit that this host holds: its daemon begins once it is loaded. */
  readonly isAtWork: (unit: OwnUnit) => boolean;
  /** Carries out what is wanted of the daemon of a unit. */
  readonly wished: (unit: OwnUnit, wish: WishRow) => void;
}

/** Has a unit be let go of by whoever took it as that epoch: the next holder was not asked. */
export interface ReleaseWish {
  readonly epoch: number;
}

/** Carries out what others want of units that this host works on: each wish by one host, and once. Throws `DatabaseError`. */
export async function carryOutWishes(
  wishes: readonly WishRow[],
  { membership, declared, held, log, isAtWork, wished }: WishInput,
): Promise<void> {
  for (const wish of wishes) {
    const own = declared.find(wish.unit);
    const unit = held.get(wish.unit);
    if (own === undefined || unit?.isEnding !== false) continue;
    if (!isWish(wish)) {
      if (await membership.takeWish(wish.id))
        log.error(`what is wished of ${own.name} in the ledger cannot be read, and was deleted`);
      continue;
    }
    if (wish.kind !== 'release' && !isAtWork(own)) continue;
    if (!(await membership.takeWish(wish.id))) continue;
    if (wish.kind !== 'release') wished(own, wish);
    else if ((wish.body as ReleaseWish).epoch === unit.grant.epoch) unit.release();
  }
}

/**
 * Whether it is one that a host wrote: somebody may have changed it in the database, and it must not end each host that reads it, nor
 * approve what nobody named.
 */
function isWish({ kind, body }: WishRow): boolean {
  const { epoch, source, path = null, halt, glob = null, digest } = (body ?? {}) as Record<string, unknown>;
  if (kind === 'release') return typeof epoch === 'number';
  if (typeof source !== 'string') return false;
  switch (kind) {
    case 'approve':
      return typeof halt === 'string';
    case 'rescan':
      return isTextOrNull(path);
    case 'repair':
      return true;
    case 'prune':
      return typeof digest === 'string' && isTextOrNull(glob);
    default:
      return false;
  }
}

function isTextOrNull(value: unknown): boolean {
  return value === null || typeof value === 'string';
}
