import type { StateStore } from '../../store/state-store.ts';
import type { Approval, AskedPrune, AskedRescan } from '../../domain/status.ts';
import { prune } from '../pass/removals.ts';
import { digestOfKept, keptFiles, type MatchesPath } from '../plan/kept-files.ts';
import type { FoundSource } from '../sources/source.ts';
import { leadsBelow } from '../../domain/path-order.ts';
import type { SyncContext } from '../pass/sync-context.ts';
import { type Halt, haltDigest, type Approved } from '../../domain/guard.ts';

/** Kept files of a source that somebody saw listed and wants removed. */
export interface WantedPrune {
  readonly source: string;
  readonly matches: MatchesPath;
  /** See `digestOfKept`. */
  readonly digest: string;
}

/**
 * Has the kept files of a source removed.
 *
 * @param found - the source as it was found last.
 */
export function askPrune(
  { source, matches, digest }: WantedPrune,
  found: FoundSource | undefined,
  state: StateStore,
): AskedPrune {
  const halt = state.source(source)?.halt ?? null;
  if (halt !== null) return { kind: 'halted', halt };
  if (found?.kind !== 'found') return { kind: 'unseen' };
  const files = [...keptFiles(found.source, state, matches)];
  if (digestOfKept(files) !== digest) return { kind: 'changed' };
  prune(found.source, files, state);
  return { kind: 'pruning', files: files.length };
}

/**
 * What a rescan of one path of a source comes to. Before a source was met by a pass, a pass is all there is.
 *
 * @param path - relative to the source; from outside, so that it may lead anywhere.
 * @param found - the source as it was found last.
 * @param refusal - why the platform refuses everything; `null`: it does not.
 */
export function judgeRescan(
  source: string,
  path: string,
  found: FoundSource | undefined,
  { config, walkStates, state, breaker }: Pick<SyncContext, 'config' | 'walkStates' | 'state' | 'breaker'>,
  refusal: string | null,
): AskedRescan {
  if (!config.sources.some(({ name }) => name === source)) return { kind: 'unknown-source' };
  if (!leadsBelow(path)) return { kind: 'outside' };
  const walkState = walkStates.get(source);
  const halt = state.source(source)?.halt ?? null;
  if (walkState === 'halted' && halt !== null) return { kind: 'halted', halt };
  if (walkState === undefined || walkState === 'halted' || found?.kind !== 'found') return { kind: 'pass' };
  if (found.source.filter.ignoresFile(path)) return { kind: 'ignored' };
  return { kind: 'path', waitsFor: breaker.outage?.reason ?? refusal };
}

/** Halts that somebody approved. Each holds for one pass that was made to its end, and for that halt alone. */
export class Approvals {
  readonly #given = new Map<string, Halt>();

  /**
   * Approves halts.
   *
   * @param halts - by source.
   * @param digest - of the halt that is meant, see `haltDigest`; `null`: whatever halts the sources now.
   */
  give(halts: ReadonlyMap<string, Halt>, digest: string | null): Approval {
    const approved: string[] = [];
    const missing: string[] = [];
    const changed: string[] = [];
    for (const [name, halt] of halts) {
      if (digest !== null && haltDigest(halt) !== digest) changed.push(name);
      else if (halt.kind === 'missing') missing.push(name);
      else {
        this.#given.set(name, halt);
        approved.push(name);
      }
    }
    return { approved, missing, changed };
  }

  /** Those given until now. */
  get pending(): ReadonlyMap<string, Halt> {
    return new Map(this.#given);
  }

  /** The approved halt of a source. */
  of(source: string): Approved {
    return this.#given.get(source) ?? null;
  }

  /** Drops approvals once a pass that began after them was made to its end. */
  used(before: ReadonlyMap<string, Halt>): void {
    for (const [name, halt] of before) if (this.#given.get(name) === halt) this.#given.delete(name);
  }
}
