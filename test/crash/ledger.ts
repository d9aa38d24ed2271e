/** One line of what a command did to its state file, as `crash-points.js` writes it, or what became of it. */
export interface TraceLine {
  readonly what:
    | 'intent'
    | 'record'
    | 'noted'
    /** It was found on the platform. */
    | 'adopted'
    /** It is about to be told otherwise in place, and was. */
    | 'changing'
    | 'changed'
    | 'marked'
    | 'commit'
    | 'sync-begin'
    | 'sync-end'
    | 'reached'
    /** The process was killed: what it had not committed is gone. */
    | 'killed'
    /** The power was cut: what was not synced is gone. */
    | 'cut'
    /** It ended by itself: everything is on disk. */
    | 'closed';
  readonly key: string;
}

/**
 * How safe the last record of a key is. `doubt`: there is none since its last intent, or it may be lost, so that the file
 * may be sent again though the platform has it.
 */
type Safety = 'doubt' | 'open' | 'committed' | 'syncing' | 'durable';

/** What becomes of all records that are as safe as this. */
const EFFECTS: Partial<Record<TraceLine['what'], Partial<Record<Safety, Safety>>>> = {
  commit: { open: 'committed' },
  'sync-begin': { committed: 'syncing' },
  'sync-end': { syncing: 'durable' },
  killed: { open: 'doubt', syncing: 'committed' },
  cut: { open: 'doubt', committed: 'doubt', syncing: 'doubt' },
  closed: { open: 'durable', committed: 'durable', syncing: 'durable' },
};

/**
 * What a state file owes: `src/store/write-group.ts` promises that a kill loses no more than the group of writes that is
 * open, and a power cut no more than what was not synced. This is what bounds the files that are sent again for nothing.
 */
export class Ledger {
  readonly #safety = new Map<string, Safety>();

  /** Takes note of what happened. */
  enter({ what, key }: TraceLine): void {
    if (what === 'intent' || what === 'noted') this.#safety.set(key, 'doubt');
    if (what === 'record' || what === 'adopted') this.#safety.set(key, 'open');
    const effects = EFFECTS[what];
    if (effects === undefined) return;
    for (const [one, safety] of this.#safety) this.#safety.set(one, effects[safety] ?? safety);
  }

  /** Whether a file may be sent again though the platform has it. */
  isInDoubt(key: string): boolean {
    return this.#safety.get(key) === 'doubt';
  }

  /** The keys whose record has to be there, after a kill or a cut was entered. */
  owed(): string[] {
    return [...this.#safety].filter(([, safety]) => safety !== 'doubt').map(([key]) => key);
  }
}

/** Whether the last intent of a key was on disk by the end of these lines. */
export function isIntentDurable(lines: readonly TraceLine[], key: string): boolean {
  const intent = lines.findLastIndex((line) => line.what === 'intent' && line.key === key);
  let next: TraceLine['what'] = 'commit';
  for (const { what } of intent < 0 ? [] : lines.slice(intent)) {
    if (what !== next) continue;
    if (what === 'sync-end') return true;
    next = what === 'commit' ? 'sync-begin' : 'sync-end';
  }
  return false;
}
