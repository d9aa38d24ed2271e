import type { Membership, WishRow } from '../../cluster/membership.ts';
import type { DeclaredUnits } from './declared-units.ts';
import type { HeldUnits } from './held-units.ts';
import type { OwnUnit } from './own-units.ts';

/** What wishes are carried out with. */
export interface WishInput {
  readonly membership: Pick<Membership, 'takeWish'>;
  readonly declared: DeclaredUnits;
  readonly held: HeldUnits;
  /** Carries out what is wanted of the daemon of a unit. */
  readonly wished: (unit: OwnUnit, wish: WishRow) => void;
}

/** Carries out what others want of units that this host works on: each wish by one host, and once. Throws `DatabaseError`. */
export async function carryOutWishes(
  wishes: readonly WishRow[],
  { membership, declared, held, wished }: WishInput,
): Promise<void> {
  for (const wish of wishes) {
    const own = declared.find(wish.unit);
    const unit = held.get(wish.unit);
    if (own === undefined || !(own.isPinned || unit?.isEnding === false)) continue;
    if (!(await membership.takeWish(wish.id))) continue;
    if (wish.kind === 'release') unit?.release();
    else wished(own, wish);
  }
}
