import type { StateStore } from '../../store/state-store.ts';
import type { Approval, AskedPrune, AskedRescan } from '../../domain/status.ts';
import { prune } from '../pass/removals.ts';
import { digestOfKept, keptFiles, type MatchesPath } from '../sources/recorded-files.ts';
import type { FoundSource } from '../sources/source.ts';
import { leadsBelow } from '../../domain/key.ts';
import type { SyncContext } from '../pass/sync-context.ts';
import { type Halt, HALT_TRAITS, haltDigest, type Approved } from '../../domain/guard.ts';

/** Kept files of a source to remove, after a user saw their list. */
export interface WantedPrune {
  readonly source: string;
  readonly matches: MatchesPath;
  /** See `digestOfKept`. */
  readonly digest: string;
}

/**
 * Marks kept files of a source for removal, unless the source is halted or the list has changed.
 *
 * @param found - the source in its last known state.
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
 * Decides what a requested rescan of one path does. Before the first pass over the source, it causes a whole pass.
 *
 * @param path - relative to the source; untrusted, so it may lead outside.
 * @param found - the source in its last known state.
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

/** Approved halts. Each approval holds for one completed pass, and for that halt only. */
export class Approvals {
  readonly #given = new Map<string, Halt>();

  /**
   * Approves halts, except those of missing directories.
   *
   * @param halts - by source.
   * @param digest - of the halt to approve, see `haltDigest`; `null`: the current halt of each source.
   */
  give(halts: ReadonlyMap<string, Halt>, digest: string | null): Approval {
    const approved: string[] = [];
    const missing: string[] = [];
    const changed: string[] = [];
    for (const [name, halt] of halts) {
      if (digest !== null && haltDigest(halt) !== digest) changed.push(name);
      else if (!HALT_TRAITS[halt.kind].isApprovable) missing.push(name);
      else {
        this.#given.set(name, halt);
        approved.push(name);
      }
    }
    return { approved, missing, changed };
  }

  get pending(): ReadonlyMap<string, Halt> {
    return new Map(this.#given);
  }

  of(source: string): Approved {
    return this.#given.get(source) ?? null;
  }

  /** Drops approvals after the completion of a pass that began after them. */
  used(before: ReadonlyMap<string, Halt>): void {
    for (const [name, halt] of before) if (this.#given.get(name) === halt) this.#given.delete(name);
  }
}
