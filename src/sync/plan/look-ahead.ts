import type { Config } from '../../config/config.ts';
import type { Halt } from '../../domain/guard.ts';
import type { StateReader } from '../../store/state-reader.ts';
import type { Listings } from '../catalog/list-adoptable.ts';
import { settingsComparer } from '../../domain/change-in-place.ts';
import { mayBeServed } from '../catalog/served-catalog.ts';
import type { Claims } from './claims.ts';
import { enterSource } from '../sources/enter-source.ts';
import type { PlanPorts, Records } from './plan-file.ts';
import type { PlanItem } from './plan-item.ts';
import { planSource } from './plan-source.ts';
import { Rereading } from './rereading.ts';
import type { FoundSource, Source } from '../sources/source.ts';
import { absenceActionOf, type FileRecord } from '../../domain/record.ts';
import type { RowId } from '../../store/file-reader.ts';

export interface LookAheadInput {
  readonly config: Config;
  readonly sources: readonly FoundSource[];
  readonly state: StateReader;
  readonly claims: Claims;
  /** The platform's time, epoch milliseconds. */
  readonly platformNow: () => number;
  /** Our time, epoch milliseconds. */
  readonly now: () => number;
  readonly isForced: (path: string) => boolean;
  /** The platform's files at targets without records, if known. */
  readonly listings?: Listings;
}

/** One step of a simulated pass. */
export type Ahead =
  | { readonly kind: 'item'; readonly source: Source; readonly target: number; readonly item: PlanItem }
  | { readonly kind: 'halt'; readonly source: string; readonly halt: Halt }
  | {
      readonly kind: 'end';
      readonly source: Source;
      readonly target: number;
      /** The whole source could be read. */
      readonly isComplete: boolean;
      /** Records that moved to files of earlier sources. */
      readonly movedAway: number;
    };

/**
 * Yields everything that a pass would do, in order, without doing it. `moves`: collects the records that would move.
 */
export function* lookAhead(input: LookAheadInput, moves = new Moves()): Generator<Ahead, void> {
  const { config, state } = input;
  for (const one of input.sources) {
    const name = one.config.name;
    if (one.kind === 'missing') {
      yield { kind: 'halt', source: name, halt: one.halt };
      continue;
    }
    const { source } = one;
    const target = state.targetId(source.syncTarget);
    const entering = enterSource(source, target, state, config.removals.mode, () => false);
    let step = entering.next();
    try {
      for (; step.done !== true; step = entering.next())
        yield { kind: 'item', source, target, item: { kind: 'tick' } };
    } finally {
      if (step.done !== true) entering.return({ kind: 'open', entries: [], approved: [] });
    }
    const entered = step.value;
    if (entered.kind === 'halted') {
      yield { kind: 'halt', source: name, halt: entered.halt };
      continue;
    }
    const movedAway = moves.countFrom(name);
    let isComplete = true;
    const records = moves.unmoved(target, state.records(target, name));
    for (const item of planSource(source, entered.entries, records, portsToLook(input, source, moves))) {
      if (item.kind === 'problem' && item.hidesFiles) isComplete = false;
      yield { kind: 'item', source, target, item };
    }
    yield { kind: 'end', source, target, isComplete, movedAway };
  }
}

/** Returns ports for planning that carry out nothing. */
export function portsToLook(
  { config, state, claims, platformNow, now, isForced, listings }: LookAheadInput,
  source: Source,
  moves: Moves,
): PlanPorts {
  const target = state.targetId(source.syncTarget);
  const canUpdate = (): boolean =>
    config.platform.operations === 'auto' && mayBeServed(state.remote.unserved(target, 'update'), now());
  return {
    target,
    claims,
    limits: config.limits,
    now: platformNow,
    wallClock: now,
    isForced,
    retriesFailed: true,
    isInDoubt: new Rereading(state, target, source.config.name, now()).isTurnOf,
    listed: (key) => listings?.find(target, key) ?? null,
    needsNoContent: settingsComparer((digest) => state.remote.toldSettings(digest), canUpdate),
    adopt: (record, by, path) => {
      moves.add(target, record);
      claims.keep(target, record.key, by, path);
    },
  };
}

/**
 * The records that move to other files in a plan that writes nothing. The state file still has them in their old
 * places.
 */
export class Moves {
  readonly #ids = new Set<string>();
  /** By the source that had them. */
  readonly #counts = new Map<string, number>();

  add(target: number, { key, source, ...record }: FileRecord): void {
    this.#ids.add(nameOf({ target, key }));
    const counts = record.absence === null || absenceActionOf(record, record.absence, 'expire') === 'remove';
    if (counts) this.#counts.set(source, this.countFrom(source) + 1);
  }

  /** Returns how many records left a source, of those that `StateReader.countRecorded` counts. */
  countFrom(source: string): number {
    return this.#counts.get(source) ?? 0;
  }

  has(id: RowId): boolean {
    return this.#ids.size > 0 && this.#ids.has(nameOf(id));
  }

  /** Returns the records of a target without those that have moved by the time they are reached. */
  unmoved(target: number, records: Records): Records {
    const hasMoved = (key: RowId['key']): boolean => this.has({ target, key });
    return {
      get current() {
        while (records.current !== null && hasMoved(records.current.key)) records.advance();
        return records.current;
      },
      advance: () => {
        records.advance();
      },
      seekAfter: (place) => {
        records.seekAfter(place);
      },
    };
  }
}

function nameOf({ target, key }: RowId): string {
  return `${target} ${key}`;
}
