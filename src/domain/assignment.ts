import { createHash } from 'node:crypto';

/** A host that may take units. */
export interface Candidate {
  readonly host: string;
  /** How much of the units it is to have, compared with others; 0: none. */
  readonly weight: number;
}

/**
 * Which host is to have a unit: the same answer on all hosts that know the same candidates, and of a host that comes or
 * goes only its own part moves (weighted rendezvous hashing). `null`: there is none.
 */
export function bestHost(unit: string, candidates: readonly Candidate[]): string | null {
  let best: { host: string; score: number } | null = null;
  for (const { host, weight } of candidates) {
    if (weight <= 0) continue;
    const score = -weight / Math.log(uniform(unit, host));
    if (best === null || score > best.score || (score === best.score && host < best.host))
      best = { host, score };
  }
  return best?.host ?? null;
}

/** A number in (0, 1) that is the same each time. */
function uniform(unit: string, host: string): number {
  const digest = createHash('sha256')
    .update(JSON.stringify([unit, host]))
    .digest();
  return (digest.readUIntBE(0, 6) + 1) / (2 ** 48 + 1);
}
