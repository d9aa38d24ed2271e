import type { ClusterMembership, WishRow } from '../../cluster/shared-ledger.ts';
import type { Log } from '../../service/logger.ts';
import type { DeclaredUnits } from './declared-units.ts';
import type { HeldUnit } from './held-unit.ts';
import type { OwnUnit } from './own-units.ts';

export interface WishInput {
  readonly membership: Pick<ClusterMembership, 'takeWish'>;
  readonly declared: Pick<DeclaredUnits, 'find'>;
  readonly held: {
    readonly get: (id: number) => Pick<HeldUnit, 'grant' | 'isEnding' | 'release'> | undefined;
  };
  readonly log: Pick<Log, 'error'>;
  /** Returns whether a daemon works on a held unit: it starts after the records are loaded. */
  readonly isAtWork: (unit: OwnUnit) => boolean;
  readonly wished: (unit: OwnUnit, wish: WishRow) => void;
}

/** Asks a holder to release a unit. `epoch` names the holder that is meant: later ones ignore the wish. */
export interface ReleaseWish {
  readonly epoch: number;
}

/** Carries out the wishes of other hosts for units that this host works on, each once. Throws `DatabaseError`. */
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
 * Returns whether a host wrote the wish. The row may have been edited in the database: it must not crash every host
 * that reads it, nor approve anything that nobody named.
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
