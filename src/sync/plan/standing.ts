import { EXIT } from '../../domain/exit-code.ts';
import { clusterTroubles, type ClusterFacts, type ClusterTrouble } from './cluster-facts.ts';
import type { NotInSync, Overview } from './overview.ts';

/** What a daemon is doing, as far as people ask. Moments are ISO 8601. */
export interface Doing {
  readonly activity: 'starting' | 'pass' | 'watching';
  /** Whether everything was looked at since the settings are new. */
  readonly isFirstPassOver: boolean;
  readonly watchedDirectories: number;
  /** Changed paths that wait to be rescanned. */
  readonly queued: number;
  /** Files on their way. */
  readonly sending: number;
  /** Since when, and when it is tried next (`null`: with the next change). `null`: the platform is in reach. */
  readonly outage: {
    readonly since: string;
    readonly nextTry: string | null;
    /** What the last failure was. */
    readonly reason: string;
  } | null;
  /** Why the platform refuses the credentials; `null`: it does not, as far as is known. */
  readonly refusal: string | null;
  /** Why the platform takes nothing that needs room; `null`: it does, as far as is known. */
  readonly shortage: string | null;
  /** When everything is looked at next; `null`: now. */
  readonly nextPass: string | null;
  /** When what failed is retried; `null`: now. */
  readonly failedAgain: string | null;
  /** When renewals that failed are retried. */
  readonly renewalsAgain: string | null;
}

/** A botsync that runs on the state file. A single pass says nothing of itself, and an older daemon says less. */
export interface Running extends Partial<Doing> {
  /** Why a daemon cannot use its state file; `null`: it can. */
  readonly trouble?: string | null;
}

/**
 * When a file that is not in sync is retried:
 * - `now`: it is being tried.
 * - `change`: when it or its rules change.
 * - `halt`: when its source is not halted any more.
 * - `outage`: when the platform is in reach again, which is tried at the moment.
 * - `ask`: the platform is asked again what became of it, at the moment.
 * - `pass`: by a pass, at the moment; without one by the next that somebody makes.
 */
export type Retry = 'now' | 'change' | 'halt' | 'outage' | 'ask' | 'pass';

/** A file that is not in sync, and when it is retried. */
export interface Failing extends Omit<NotInSync, 'retry'> {
  readonly retry: Retry;
  /** ISO 8601; `null`: it is not known, or now. */
  readonly retryAt: string | null;
}

/** Everything that is known of how things stand: what `botsync status` is made of. */
export interface Known extends Omit<Overview, 'failures'> {
  readonly failures: readonly Failing[];
  /** Only of a host that takes part in one. */
  readonly cluster?: ClusterFacts;
}

/** Files that are not in sync for the same reason, and are retried at the same time. */
export interface FailingGroup {
  readonly kind: 'files';
  readonly files: readonly Failing[];
}

/** Something that is not as it should be. What follows from another trouble is part of that. */
export type Trouble =
  /** A daemon cannot use its state file. */
  | { readonly kind: 'state-file'; readonly reason: string }
  /** `reason`: `null` where only the last pass knew it. `waiting`: files that this keeps from being sent. */
  | { readonly kind: 'credentials'; readonly reason: string | null; readonly waiting: number }
  | { readonly kind: 'quota'; readonly reason: string; readonly waiting: number }
  | ({ readonly kind: 'outage'; readonly waiting: number } & NonNullable<Doing['outage']>)
  | { readonly kind: 'halted'; readonly source: string }
  | { readonly kind: 'expiring'; readonly source: string }
  | FailingGroup
  | ClusterTrouble
  /** Not everything was looked at: no pass has ended, the last one was interrupted, or it left out so many files. */
  | { readonly kind: 'no-pass' | 'interrupted' }
  | { readonly kind: 'left-out'; readonly files: number };

/** How things stand. */
export interface Standing {
  readonly troubles: readonly Trouble[];
  /** What is being done, so that not everything is in sync yet; `null`: nothing. */
  readonly underWay: {
    /** Whether everything is being looked at, for the first time since botsync started. */
    readonly isLooking: boolean;
    /** Changed paths that wait. */
    readonly queued: number;
    /** Files whose content is on its way. */
    readonly sending: number;
  } | null;
  /** 0: everything is in sync, or is being indexed; 3: not so; 4: credentials are refused; 5: a source or a unit is halted. */
  readonly exitCode: number;
}

/** Adds to what is on record when each failure is retried. `running`: who runs on the state file. */
export function withRetries(overview: Overview, running: Running | null): Known {
  const halted = new Set(overview.sources.flatMap((one) => (one.halted === null ? [] : [one.name])));
  const failures = overview.failures.map((one) => ({ ...one, ...retryOf(one, running, halted) }));
  return { ...overview, failures };
}

function retryOf(
  { kind, source, retry, retryAt }: NotInSync,
  running: Running | null,
  halted: ReadonlySet<string>,
): Pick<Failing, 'retry' | 'retryAt'> {
  if (halted.has(source)) return { retry: 'halt', retryAt: null };
  if (retry === 'change') return { retry, retryAt: null };
  const daemon = running?.activity === undefined ? null : running;
  if (retry === 'ask') return { retry, retryAt: daemon && retryAt };
  if (daemon?.outage) return { retry: 'outage', retryAt: daemon.outage.nextTry };
  if (running !== null && retry === 'sending') return { retry: 'now', retryAt: null };
  if (daemon === null) return { retry: 'pass', retryAt: null };
  return retry === 'resend' ? { retry: 'pass', retryAt } : nextTryOf(kind, retry, daemon);
}

/** When a pass of a daemon tries a file again, or a renewal is tried before that. */
function nextTryOf(
  kind: NotInSync['kind'],
  cause: NotInSync['retry'],
  daemon: Running,
): Pick<Failing, 'retry' | 'retryAt'> {
  const { nextPass = null, failedAgain = null, renewalsAgain = null } = daemon;
  const pass = kind === 'problem' ? nextPass : failedAgain;
  if (pass === null) return { retry: 'now', retryAt: null };
  const isSooner = cause === 'renewal' && renewalsAgain !== null && renewalsAgain < pass;
  return { retry: 'pass', retryAt: isSooner ? renewalsAgain : pass };
}

/** Says what is wrong and what is being done, each thing once. */
export function standingOf(known: Known, running: Running | null): Standing {
  const { sources } = known;
  const failing = new Failings(
    known.failures.filter(({ kind, retry }) => kind !== 'sending' || retry !== 'now'),
  );
  const troubles: Trouble[] = [
    ...causes(known, running, failing),
    ...(known.cluster === undefined ? [] : clusterTroubles(known.cluster, sources)),
    ...sources.flatMap(({ name, halted }) =>
      halted === null ? [] : [{ kind: 'halted' as const, source: name }],
    ),
    ...sources.flatMap(({ name, expiring }) =>
      expiring === 0 ? [] : [{ kind: 'expiring' as const, source: name }],
    ),
    ...failing.groups(),
    ...unseen(known, running),
  ];
  const underWay = running && {
    isLooking: running.isFirstPassOver !== true && (running.trouble ?? null) === null,
    queued: running.queued ?? 0,
    sending: sources.reduce((sum, { sending }) => sum + sending, 0),
  };
  const isUnderWay = underWay !== null && (underWay.isLooking || underWay.queued + underWay.sending > 0);
  const kinds = new Set(troubles.map(({ kind }) => kind));
  const exitCode = kinds.has('credentials')
    ? EXIT.credentials
    : kinds.has('halted') || kinds.has('blocked-unit')
      ? EXIT.halted
      : troubles.length > 0 || isUnderWay
        ? EXIT.incomplete
        : EXIT.ok;
  return { troubles, underWay: isUnderWay ? underWay : null, exitCode };
}

/** What keeps many files from being sent. */
function causes({ lastPass }: Known, running: Running | null, failing: Failings): Trouble[] {
  const { trouble = null, refusal = null, shortage = null, outage = null } = running ?? {};
  const wasRefused = running?.isFirstPassOver !== true && lastPass?.exitCode === EXIT.credentials;
  return [
    ...(trouble === null ? [] : [{ kind: 'state-file' as const, reason: trouble }]),
    ...(refusal === null && !wasRefused
      ? []
      : [{ kind: 'credentials' as const, reason: refusal, waiting: failing.take(refusal) }]),
    ...(shortage === null
      ? []
      : [{ kind: 'quota' as const, reason: shortage, waiting: failing.take(shortage) }]),
    ...(outage === null ? [] : [{ kind: 'outage' as const, ...outage, waiting: failing.takeWaiting() }]),
  ];
}

/** What nobody has checked. A botsync that is about to look at everything is no trouble. */
function unseen({ lastPass, failures }: Known, running: Running | null): Trouble[] {
  if (running !== null) return [];
  if (lastPass === null) return [{ kind: 'no-pass' }];
  if (lastPass.exitCode === EXIT.interrupted) return [{ kind: 'interrupted' }];
  // A new file that could not be tried has left no record.
  const onRecord = failures.filter(({ kind }) => kind === 'pending' || kind === 'sending').length;
  const files = lastPass.summary.pending - onRecord;
  return files > 0 ? [{ kind: 'left-out', files }] : [];
}

/** Files that are not in sync, each of which is told of once. */
class Failings {
  #left: readonly Failing[];

  constructor(failures: readonly Failing[]) {
    this.#left = failures;
  }

  /** Takes out those that failed for a reason that all of them share; returns how many that are. */
  take(reason: string | null): number {
    if (reason === null) return 0;
    return this.#takeOut(({ retry, reason: own }) => retry !== 'change' && own.includes(reason));
  }

  /** Takes out those that wait for the end of an outage, whatever each of them met last; returns how many that are. */
  takeWaiting(): number {
    return this.#takeOut(({ retry }) => retry === 'outage');
  }

  #takeOut(isTaken: (one: Failing) => boolean): number {
    const others = this.#left.filter((one) => !isTaken(one));
    const taken = this.#left.length - others.length;
    this.#left = others;
    return taken;
  }

  /** The others, those with the same reason and the same prospects together, in the order of the first of each. */
  groups(): FailingGroup[] {
    const groups = new Map<string, Failing[]>();
    for (const one of this.#left) {
      const name = JSON.stringify([one.kind, one.reason, one.retry, one.retryAt]);
      const group = groups.get(name);
      if (group === undefined) groups.set(name, [one]);
      else group.push(one);
    }
    return [...groups.values()].map((files) => ({ kind: 'files', files }));
  }
}
