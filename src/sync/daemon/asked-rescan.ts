import { leadsBelow } from '../../domain/within.ts';
import type { SyncContext } from '../pass/sync-context.ts';
import type { FoundSource } from '../sources/source.ts';

/** What comes of it when somebody wants a look now. */
export type AskedRescan =
  /** A pass over everything, which also tries again what failed. */
  | { readonly kind: 'pass' }
  /** A rescan of the path. `waitsFor`: what keeps it from being sent; `null`: nothing, as far as is known. */
  | { readonly kind: 'path'; readonly waitsFor: string | null }
  /** Nothing: there is no such source, it is no path within a source, or its file is ignored. */
  | { readonly kind: 'unknown-source' | 'outside' | 'ignored' }
  /** Nothing: a guard halts the source. */
  | { readonly kind: 'halted'; readonly reason: string };

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
  const halted = state.source(source)?.halted ?? null;
  if (walkState === 'halted' && halted !== null) return { kind: 'halted', reason: halted };
  if (walkState === undefined || walkState === 'halted' || found?.kind !== 'found') return { kind: 'pass' };
  if (found.source.filter.ignoresFile(path)) return { kind: 'ignored' };
  return { kind: 'path', waitsFor: breaker.outage?.reason ?? refusal };
}
