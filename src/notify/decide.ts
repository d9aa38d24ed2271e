import type { NotifySettings, Topic } from '../domain/notice.ts';
import {
  type Sightings,
  nameOf,
  sizeOf,
  subjectNamed,
  subjectOf,
  topicOf,
  type Snapshot,
  type Subject,
  type Trouble,
} from './trouble.ts';

/** The last notice about a subject. `toldAtMs`: epoch milliseconds; `count`: the files it named; `null`: it said that the trouble was over. */
export interface LastNotice {
  readonly toldAtMs: number;
  readonly count: number | null;
}

/** The last notices, by the name of their subject. */
export type SentNotices = ReadonlyMap<string, LastNotice>;

export type Notice =
  | { readonly kind: 'began'; readonly trouble: Trouble }
  /** More files than the last notice named. */
  | { readonly kind: 'grew'; readonly trouble: Trouble }
  | { readonly kind: 'over'; readonly subject: Subject }
  | { readonly kind: 'summary'; readonly sinceMs: number };

/** A change of `SentNotices`; `told`: `null` forgets. With a notice it applies once the notice was sent. */
export interface Step {
  readonly notice: Notice | null;
  readonly name: string;
  readonly told: LastNotice | null;
}

export interface Evidence {
  readonly snapshot: Snapshot;
  /** The troubles of this and earlier snapshots, see `see`. */
  readonly seen: Sightings;
  readonly memory: SentNotices;
  readonly nowMs: number;
}

/** The name of the summary in `SentNotices`. */
export const SUMMARY = '["summary"]';

/** How long a trouble lasts before its notice, milliseconds: some are transient. */
const PATIENCE_MS: Readonly<Record<Trouble['kind'], number>> = {
  failing: 0,
  halted: 0,
  credentials: 0,
  'out-of-reach': 60_000,
  configuration: 60_000,
  expiring: 300_000,
};

/**
 * Returns the notices that are due. A trouble has a notice when it begins, when it is over, and in between only when it has grown;
 * after each of them `quietMs` pass before another one says that it began or grew. Without a change the result is empty.
 *
 * @param isPatient - `false` for a single pass: troubles are not waited for.
 */
export function decideNotices(
  { snapshot, seen, memory, nowMs }: Evidence,
  settings: Pick<NotifySettings, 'on' | 'quietMs' | 'summaryEveryMs'>,
  isPatient: boolean,
): Step[] {
  const steps: Step[] = [];
  const begun: Step[] = [];
  const looked: Looked = { sources: snapshot.sources, unknown: new Set(snapshot.unknown.map(nameOf)), nowMs };
  const masks = findMasks(snapshot, seen, memory, settings.on);
  for (const [name, told] of memory) {
    if (name === SUMMARY || seen.has(name) || isMasked(name, masks)) continue;
    const step = withoutTrouble(name, told, looked, settings);
    if (step !== null) steps.push(step);
  }
  for (const [name, { trouble, sinceMs }] of seen) {
    if (!settings.on.has(topicOf(subjectOf(trouble)))) {
      if (memory.has(name)) steps.push({ notice: null, name, told: null });
      continue;
    }
    if (isMasked(name, masks)) continue;
    if (isPatient && !hasPassed(sinceMs, PATIENCE_MS[trouble.kind], nowMs)) continue;
    const step = withTrouble(name, trouble, memory.get(name) ?? null, nowMs, settings.quietMs);
    if (step !== null) begun.push(step);
  }
  const summary = decideSummary(memory.get(SUMMARY) ?? null, nowMs, settings);
  return [...steps, ...begun, ...(summary === null ? [] : [summary])];
}

export function visibleTroubles(
  snapshot: Snapshot,
  seen: Sightings,
  memory: SentNotices,
  on: ReadonlySet<Topic>,
): Trouble[] {
  const masks = findMasks(snapshot, seen, memory, on);
  return [...seen].flatMap(([name, { trouble }]) => (isMasked(name, masks) ? [] : [trouble]));
}

/** Where a greater trouble explains failing files: everywhere (`all`), or in some sources. */
interface Masks {
  readonly all: boolean;
  readonly sources: ReadonlySet<string>;
}

/** Refused credentials, an unreachable platform and a halt make files fail: one notice is enough. */
function findMasks(
  { sources, unknown }: Snapshot,
  seen: Sightings,
  memory: SentNotices,
  on: ReadonlySet<Topic>,
): Masks {
  const unknownNames = new Set(unknown.map(nameOf));
  const isOn = (subject: Subject): boolean => {
    const name = nameOf(subject);
    const isRemembered = unknownNames.has(name) && (memory.get(name)?.count ?? null) !== null;
    return on.has(topicOf(subject)) && (seen.has(name) || isRemembered);
  };
  return {
    all: isOn({ kind: 'credentials', source: null }) || isOn({ kind: 'out-of-reach', source: null }),
    sources: new Set(sources.filter((source) => isOn({ kind: 'halted', source }))),
  };
}

function isMasked(name: string, masks: Masks): boolean {
  const subject = subjectNamed(name);
  return subject?.kind === 'failing' && (masks.all || masks.sources.has(subject.source));
}

function withTrouble(
  name: string,
  trouble: Trouble,
  told: LastNotice | null,
  nowMs: number,
  quietMs: number,
): Step | null {
  const now = { toldAtMs: nowMs, count: sizeOf(trouble) };
  if (told === null) return { notice: { kind: 'began', trouble }, name, told: now };
  const isQuiet = !hasPassed(told.toldAtMs, quietMs, nowMs);
  if (told.count === null) return isQuiet ? null : { notice: { kind: 'began', trouble }, name, told: now };
  if (now.count > told.count) return isQuiet ? null : { notice: { kind: 'grew', trouble }, name, told: now };
  // A smaller number has no notice, but a later increase above it has.
  return now.count < told.count ? { notice: null, name, told: { ...told, count: now.count } } : null;
}

/** The coverage of a snapshot, and its time. */
interface Looked {
  readonly sources: readonly string[];
  /** The names of subjects whose state is unknown. */
  readonly unknown: ReadonlySet<string>;
  readonly nowMs: number;
}

function withoutTrouble(
  name: string,
  told: LastNotice,
  { sources, unknown, nowMs }: Looked,
  { on, quietMs }: Pick<NotifySettings, 'on' | 'quietMs'>,
): Step | null {
  const subject = subjectNamed(name);
  const isOurs =
    subject !== null &&
    on.has(topicOf(subject)) &&
    (subject.source === null || sources.includes(subject.source));
  if (!isOurs) return { notice: null, name, told: null };
  if (unknown.has(name)) return null;
  if (told.count === null)
    return hasPassed(told.toldAtMs, quietMs, nowMs) ? { notice: null, name, told: null } : null;
  if (!on.has('recovered')) return { notice: null, name, told: { ...told, count: null } };
  return { notice: { kind: 'over', subject }, name, told: { toldAtMs: nowMs, count: null } };
}

function decideSummary(
  told: LastNotice | null,
  nowMs: number,
  { on, summaryEveryMs }: Pick<NotifySettings, 'on' | 'summaryEveryMs'>,
): Step | null {
  const now = { toldAtMs: nowMs, count: null };
  if (!on.has('summary')) return told === null ? null : { notice: null, name: SUMMARY, told: null };
  // The first summary is sent when there is a period to sum up.
  if (told === null || told.toldAtMs > nowMs) return { notice: null, name: SUMMARY, told: now };
  if (!hasPassed(told.toldAtMs, summaryEveryMs, nowMs)) return null;
  return { notice: { kind: 'summary', sinceMs: told.toldAtMs }, name: SUMMARY, told: now };
}

/** A time in the future was written by a wrong clock, and counts as long ago. */
function hasPassed(sinceMs: number, spanMs: number, nowMs: number): boolean {
  return nowMs < sinceMs || nowMs - sinceMs >= spanMs;
}
