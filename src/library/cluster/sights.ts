import { stat } from 'fs/promises';
import type { Config, SourceConfig } from '../../config/config.ts';
import type { Clock } from '../../domain/clock.ts';
import type { DirectoryFault, MissingHalt } from '../../domain/guard.ts';
import type { Unseen, UnseenHalt } from '../../domain/hindrance.ts';
import { StateFileError } from '../../store/database.ts';
import { StateReader } from '../../store/state-reader.ts';
import { UnreadableRowError, WorkingCopy } from '../../store/working-copy.ts';
import { haltAtSight, haltThatStands, lookAtDirectory, type Sight } from '../../sync/sources/sight.ts';
import { findSource, type Source } from '../../sync/sources/source.ts';
import type { Cluster } from './open-cluster.ts';
import type { OwnUnit } from './own-units.ts';

/** What directories are looked at with. */
export interface SightsInput {
  readonly cluster: Pick<Cluster, 'ledger' | 'config'>;
  readonly config: () => Config;
  readonly platformName: (config: Config) => string;
  readonly clock: Clock;
}

/** A unit whose directories are looked at. */
export interface LookedAt {
  readonly own: OwnUnit;
  /** How often it was taken, as far as was seen; what this host recorded of it changes only when it takes it. */
  readonly epoch: number;
  /** Its records, where this host holds it now. */
  readonly state: () => StateReader | null;
}

/** A source as it was seen, or why it was not. */
type Seen =
  | { readonly kind: 'seen'; readonly source: Source; readonly sight: Sight }
  | { readonly kind: 'missing'; readonly name: string; readonly halt: MissingHalt };

/** What this host sees of the directories of its units, against what is on record of them. */
export class Sights {
  readonly #input: SightsInput;
  #hindrances: readonly Unseen[] = [];
  /** Since when units have not been seen, by their numbers and the monotonic clock. */
  readonly #sinceMs = new Map<number, number>();
  /** How units looked when all was as it ought to be. */
  readonly #known = new Map<number, string>();

  constructor(input: SightsInput) {
    this.#input = input;
  }

  /** What it does not see. */
  get hindrances(): readonly Unseen[] {
    return this.#hindrances;
  }

  /** For how long this host has not seen a unit, milliseconds; `null`: it sees it. */
  unseenForMs(unit: number): number | null {
    const sinceMs = this.#sinceMs.get(unit);
    return sinceMs === undefined ? null : this.#input.clock.monotonic() - sinceMs;
  }

  /** Looks at units. A share that hangs is waited for so long, milliseconds. Throws `DatabaseError`. */
  async look(units: readonly LookedAt[], patienceMs: number): Promise<void> {
    const found = await Promise.all(units.map((unit) => this.#unseen(unit, patienceMs)));
    this.#hindrances = found.flat();
    const unseen = new Set(this.#hindrances.map(({ unit }) => unit));
    for (const unit of this.#sinceMs.keys()) if (!unseen.has(unit)) this.#sinceMs.delete(unit);
    for (const unit of unseen)
      if (!this.#sinceMs.has(unit)) this.#sinceMs.set(unit, this.#input.clock.monotonic());
  }

  async #unseen({ own, epoch, state }: LookedAt, patienceMs: number): Promise<Unseen[]> {
    const all = await Promise.all(own.sources.map((source) => this.#see(source, patienceMs)));
    const missing = all.flatMap((one) =>
      one.kind === 'missing' ? [hindrance(own, one.name, one.halt)] : [],
    );
    const seen = all.filter((one) => one.kind === 'seen');
    const empty = seen.filter(({ sight }) => sight.isEmpty);
    const held = state();
    if (held !== null) return [...missing, ...seen.flatMap((one) => unseenByHolder(own, one, held))];
    const looks = JSON.stringify([epoch, seen.map(({ sight }) => sight)]);
    if (missing.length + empty.length === 0 && this.#known.get(own.id) === looks) return [];
    const { isOnRecord, unseen } = await this.#compare(own, seen);
    if (missing.length + unseen.length === 0 && isOnRecord) this.#known.set(own.id, looks);
    return [...missing, ...unseen];
  }

  async #see(source: SourceConfig, patienceMs: number): Promise<Seen> {
    const { name, directory } = source;
    const missing = (fault: DirectoryFault): Seen => {
      return { kind: 'missing', name, halt: { kind: 'missing', directory, fault } };
    };
    // What follows waits for the file system, and all else with it.
    if ((await isDirectoryThere(directory, patienceMs)) === null) return missing({ kind: 'silent' });
    const config = this.#input.config();
    const position = config.sources.findIndex((one) => one.name === name);
    const found = findSource(config, source, position, this.#input.platformName(config));
    if (found.kind === 'missing') return { kind: 'missing', name, halt: found.halt };
    try {
      return { kind: 'seen', source: found.source, sight: lookAtDirectory(found.source) };
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === undefined) throw error;
      return missing({ kind: 'unlistable', code });
    }
  }

  /** Compares what is seen with some of the records of a unit that another host holds, or none. */
  async #compare(
    own: OwnUnit,
    seen: readonly Extract<Seen, { kind: 'seen' }>[],
  ): Promise<{ readonly isOnRecord: boolean; readonly unseen: Unseen[] }> {
    const { ledger, config } = this.#input.cluster;
    const sample = await ledger.sample(own.id, config.host);
    const copy = new WorkingCopy(':memory:');
    try {
      copy.loadTargets([{ id: own.target, ...own.at }]);
      copy.load(sample);
      const state = new StateReader(copy.database);
      const { mode } = this.#input.config().removals;
      const unseen = seen.flatMap(({ source, sight }) => {
        const halt = haltThatStands(source, sight, state) ?? haltAtSight(source, sight, state, mode);
        return ofHalt(own, source, sight, halt);
      });
      return { isOnRecord: sample.files !== '[]', unseen };
    } catch (error) {
      // Whoever takes the unit tells of it.
      if (error instanceof UnreadableRowError || error instanceof StateFileError)
        return { isOnRecord: false, unseen: [] };
      throw error;
    } finally {
      copy.close();
    }
  }
}

/** A holder's passes compare all that is on record: what they met is in its state. */
function unseenByHolder(
  own: OwnUnit,
  { source, sight }: Extract<Seen, { kind: 'seen' }>,
  state: StateReader,
): Unseen[] {
  try {
    return ofHalt(own, source, sight, haltThatStands(source, sight, state));
  } catch (error) {
    // The work on the unit ends by that.
    if (error instanceof StateFileError) return [];
    throw error;
  }
}

function ofHalt(
  own: OwnUnit,
  { config, root }: Source,
  { isEmpty }: Sight,
  halt: UnseenHalt | null,
): Unseen[] {
  if (halt === null)
    return isEmpty ? [hindrance(own, config.name, { kind: 'no-files', directory: root })] : [];
  return [hindrance(own, config.name, halt)];
}

function hindrance(own: OwnUnit, source: string, halt: Unseen['halt']): Unseen {
  return { kind: 'unseen', source, unit: own.id, halt };
}

/** Looks that wait for an answer: each takes one of the few threads that there are, for ever on a share that hangs. */
const waiting = new Map<string, Promise<boolean>>();

/**
 * Returns whether a directory is there; `null`: the file system does not answer.
 *
 * @param patienceMs - how long it is waited for.
 */
export async function isDirectoryThere(path: string, patienceMs: number): Promise<boolean | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => {
      resolve(null);
    }, patienceMs);
  });
  const answer = await Promise.race([look(path), late]);
  clearTimeout(timer);
  return answer;
}
function look(path: string): Promise<boolean> {
  const known = waiting.get(path);
  if (known !== undefined) return known;
  const asked = stat(path)
    .then(
      (facts) => facts.isDirectory(),
      () => false,
    )
    .finally(() => waiting.delete(path));
  waiting.set(path, asked);
  return asked;
}
