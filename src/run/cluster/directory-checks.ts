import { stat } from 'fs/promises';
import type { SourceConfig } from '../../config/config.ts';
import type { UnitRow } from '../../cluster/shared-ledger.ts';
import type { DirectoryFault, MissingHalt } from '../../domain/guard.ts';
import type { Unseen, UnseenHalt } from '../../domain/hindrance.ts';
import { StateFileError } from '../../store/database.ts';
import { StateReader } from '../../store/state-reader.ts';
import { UnreadableRowError, WorkingCopy } from '../../store/working-copy.ts';
import { haltAtSight, haltThatStands, lookAtDirectory, type Sight } from '../../sync/sources/enter-source.ts';
import { findSource, type Source } from '../../sync/sources/source.ts';
import type { ClusterHost } from './open-cluster.ts';
import type { OwnUnit } from './own-units.ts';

type Seen =
  | { readonly kind: 'seen'; readonly source: Source; readonly sight: Sight }
  | { readonly kind: 'missing'; readonly name: string; readonly halt: MissingHalt };

/** Compares the directories of this host's units with their records. */
export class DirectoryChecks {
  readonly #input: ClusterHost;
  #hindrances: readonly Unseen[] = [];
  /** When units were first unseen, by unit number, milliseconds of the monotonic clock. */
  readonly #sinceMs = new Map<number, number>();
  /** The state in which units were last found complete, by unit number. */
  readonly #known = new Map<number, string>();

  constructor(input: ClusterHost) {
    this.#input = input;
  }

  /** Sources whose files this host does not see. */
  get hindrances(): readonly Unseen[] {
    return this.#hindrances;
  }

  /** Returns how long this host has not seen a unit, milliseconds; `null`: it sees the unit. */
  unseenForMs(unit: number): number | null {
    const sinceMs = this.#sinceMs.get(unit);
    return sinceMs === undefined ? null : this.#input.clock.monotonic() - sinceMs;
  }

  /**
   * Checks units. Throws `DatabaseError`.
   *
   * @param rows - of the units, as last seen.
   * @param stateOf - returns the records of a unit while this host holds it.
   * @param patienceMs - time to wait for a share that hangs.
   */
  async look(
    units: readonly OwnUnit[],
    rows: readonly UnitRow[],
    stateOf: (id: number) => StateReader | null,
    patienceMs: number,
  ): Promise<void> {
    const found = await Promise.all(
      units.map(async (own) => {
        const all = await Promise.all(own.sources.map((source) => this.#see(source, patienceMs)));
        return await this.#unseen(own, all, rows, stateOf(own.id));
      }),
    );
    this.#hindrances = found.flat();
    const unseen = new Set(this.#hindrances.map(({ unit }) => unit));
    for (const unit of this.#sinceMs.keys()) if (!unseen.has(unit)) this.#sinceMs.delete(unit);
    for (const unit of unseen)
      if (!this.#sinceMs.has(unit)) this.#sinceMs.set(unit, this.#input.clock.monotonic());
  }

  async #unseen(
    own: OwnUnit,
    all: readonly Seen[],
    rows: readonly UnitRow[],
    held: StateReader | null,
  ): Promise<Unseen[]> {
    const missing = all.flatMap((one) =>
      one.kind === 'missing' ? [hindrance(own, one.name, one.halt)] : [],
    );
    const seen = all.filter((one) => one.kind === 'seen');
    const empty = seen.filter(({ sight }) => sight.isEmpty);
    if (held !== null) return [...missing, ...seen.flatMap((one) => unseenByHolder(own, one, held))];
    // This host's records of the unit change only when it takes the unit.
    const epoch = rows.find(({ id }) => id === own.id)?.epoch ?? 0;
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
    // The checks below block the event loop on a hanging share.
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

  /** Compares the directories with a sample of the records of a unit that this host does not hold. */
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
      // The host that takes the unit reports it.
      if (error instanceof UnreadableRowError || error instanceof StateFileError)
        return { isOnRecord: false, unseen: [] };
      throw error;
    } finally {
      copy.close();
    }
  }
}

/** The passes of a holder compare all records: their result is in the state. */
function unseenByHolder(
  own: OwnUnit,
  { source, sight }: Extract<Seen, { kind: 'seen' }>,
  state: StateReader,
): Unseen[] {
  try {
    return ofHalt(own, source, sight, haltThatStands(source, sight, state));
  } catch (error) {
    // The same error ends the work on the unit.
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

/** Unanswered checks. Each occupies one of the few threads, on a hanging share forever; so there is one per path. */
const waiting = new Map<string, Promise<boolean>>();

/** Returns whether a directory exists; `null`: no answer within `patienceMs`. */
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
