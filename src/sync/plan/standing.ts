import { EXIT } from '../../domain/exit-code.ts';
import { describeObstacle } from '../../words/obstacle.ts';
import type {
  ServiceState,
  SourceStatus,
  Known,
  FailingGroup,
  Failing,
  NotInSync,
  Overview,
  Trouble,
  Standing,
  Running,
} from '../../domain/status.ts';
import type { ClusterFacts, ClusterTrouble, HostFacts } from '../../domain/cluster-status.ts';

/**
 * Adds to an overview whether a service runs, and when each failure is retried. `running`: the process that uses the
 * state file.
 */
export function withRetries(overview: Overview, running: Running | null, service: ServiceState): Known {
  const halted = new Set(overview.sources.flatMap((one) => (one.halted === null ? [] : [one.name])));
  const failures = overview.failures.map((one) => ({ ...one, ...retryOf(one, running, halted) }));
  // A daemon knows better than records that were read a while ago.
  const pause = running?.pause === undefined ? overview.pause : running.pause;
  return { ...overview, failures, service, pause };
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
  // Files that were being sent when the pause began are completed.
  if (daemon?.pause && (retry !== 'sending' || daemon.sending === 0))
    return { retry: 'resume', retryAt: daemon.pause.until };
  if (daemon?.outage) return { retry: 'outage', retryAt: daemon.outage.nextTry };
  if (running !== null && retry === 'sending') return { retry: 'now', retryAt: null };
  if (daemon === null) return { retry: 'pass', retryAt: null };
  return retry === 'resend' ? { retry: 'pass', retryAt } : nextTryOf(kind, retry, daemon);
}

/** Returns when a daemon retries a file: in a pass, or earlier for a renewal. */
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

/** Lists what is wrong and what is in progress, without repetitions. */
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
    // The activity of a service that does not respond is unknown.
    isLooking:
      known.service.kind !== 'silent' &&
      running.isFirstPassOver !== true &&
      (running.trouble ?? null) === null,
    queued: running.queued ?? 0,
    sending: sources.reduce((sum, { sending }) => sum + sending, 0),
  };
  const isUnderWay = underWay !== null && (underWay.isLooking || underWay.queued + underWay.sending > 0);
  // Nothing notices changes now.
  const isUnserved = known.service.kind === 'stopped' || known.service.kind === 'silent';
  const kinds = new Set(troubles.map(({ kind }) => kind));
  const exitCode = kinds.has('credentials')
    ? EXIT.credentials
    : kinds.has('halted') || kinds.has('blocked-unit') || kinds.has('differing-source')
      ? EXIT.halted
      : kinds.has('configuration')
        ? EXIT.usage
        : troubles.some((one) => one.kind !== 'paused' || one.waiting !== 0) || isUnderWay || isUnserved
          ? EXIT.incomplete
          : EXIT.ok;
  return { troubles, underWay: isUnderWay ? underWay : null, exitCode };
}

/** Lists causes that keep many files from being sent. */
function causes({ lastPass, pause, sources }: Known, running: Running | null, failing: Failings): Trouble[] {
  const { trouble = null, refusal = null, shortage = null, outage = null, configuration } = running ?? {};
  const { problem = null, loadedAt = '' } = configuration ?? {};
  const wasRefused = running?.isFirstPassOver !== true && lastPass?.exitCode === EXIT.credentials;
  return [
    ...(pause === null ? [] : [{ kind: 'paused' as const, ...pause, waiting: failing.takePaused(sources) }]),
    ...(trouble === null ? [] : [{ kind: 'state-file' as const, reason: trouble }]),
    ...(problem === null ? [] : [{ kind: 'configuration' as const, problem, loadedAt }]),
    ...(refusal === null && !wasRefused
      ? []
      : [{ kind: 'credentials' as const, reason: refusal, waiting: failing.take(refusal) }]),
    ...(shortage === null
      ? []
      : [{ kind: 'quota' as const, reason: shortage, waiting: failing.take(shortage) }]),
    ...(outage === null ? [] : [{ kind: 'outage' as const, ...outage, waiting: failing.takeWaiting() }]),
  ];
}

/** Lists what was not checked. It is no trouble if botsync is about to check everything. */
function unseen({ lastPass, failures }: Known, running: Running | null): Trouble[] {
  if (running !== null) return [];
  if (lastPass === null) return [{ kind: 'no-pass' }];
  if (lastPass.exitCode === EXIT.interrupted) return [{ kind: 'interrupted' }];
  // A new file that was not tried has no record.
  const onRecord = failures.filter(({ kind }) => kind === 'pending' || kind === 'sending').length;
  const files = lastPass.summary.pending - onRecord;
  return files > 0 ? [{ kind: 'left-out', files }] : [];
}

/** Files that are not in sync, each reported once. */
class Failings {
  #left: readonly Failing[];

  constructor(failures: readonly Failing[]) {
    this.#left = failures;
  }

  /** Takes out those that failed for this common reason and returns their number. */
  take(reason: string | null): number {
    if (reason === null) return 0;
    const sentences = new Set([
      reason,
      describeObstacle({ kind: 'waiting', cause: { kind: 'platform', message: reason } }),
      describeObstacle({ kind: 'not-removed', message: reason }),
    ]);
    return this.#takeOut(({ retry, reason: own }) => retry !== 'change' && sentences.has(own));
  }

  /** Takes out those that wait for the end of an outage, whatever their last failure, and returns their number. */
  takeWaiting(): number {
    return this.#takeOut(({ retry }) => retry === 'outage');
  }

  /** Takes out those that only a pause holds back, and returns how many changes wait: there may be more than are listed. */
  takePaused(sources: readonly SourceStatus[]): number {
    const sentence = describeObstacle({ kind: 'waiting', cause: { kind: 'paused' } });
    this.#takeOut(({ reason }) => reason === sentence);
    return sources.reduce((sum, one) => sum + (one.halted === null ? one.pending + one.toRemove : 0), 0);
  }

  #takeOut(isTaken: (one: Failing) => boolean): number {
    const others = this.#left.filter((one) => !isTaken(one));
    const taken = this.#left.length - others.length;
    this.#left = others;
    return taken;
  }

  /** Returns the others, grouped by reason and retry, in the order of their first files. */
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

export function clusterTroubles(cluster: ClusterFacts, sources: readonly SourceStatus[]): ClusterTrouble[] {
  const { trouble, units, hosts, held, blocked, failed } = cluster;
  const alive = new Set(hosts.filter((one) => one.alive).map(({ name }) => name));
  const free = units.flatMap(({ name, holderHost, isConfigured, whyUntaken }): ClusterTrouble[] => {
    if (!isConfigured || Object.hasOwn(blocked, name)) return [];
    // The ledger shows units that this host took only after the next heartbeat.
    if (held.includes(name)) return [];
    if (holderHost !== null && alive.has(holderHost)) return [];
    const reason = failed[name] ?? null;
    return [{ kind: 'free-unit', unit: name, silent: holderHost, reason, whyUntaken }];
  });
  const own = hosts.find(({ isMe }) => isMe)?.hindrances ?? [];
  const differing = own.flatMap((one): ClusterTrouble[] =>
    one.kind === 'differing' ? [{ ...one, kind: 'differing-source' }] : [],
  );
  return [
    ...(trouble === null ? [] : [{ kind: 'cluster' as const, reason: trouble }]),
    ...Object.entries(blocked).map(([unit, reason]) => ({ kind: 'blocked-unit' as const, unit, reason })),
    // Nothing is known about other hosts while the database is unreachable.
    ...(trouble === null ? free : []),
    ...differing,
    ...sources.flatMap((source) => elsewhere(source, hosts)),
  ];
}
function elsewhere(source: SourceStatus, hosts: readonly HostFacts[]): ClusterTrouble[] {
  const { name, syncedBy, failed, refused, problems, pending, unsearchable } = source;
  const files = failed + refused + problems + pending + unsearchable;
  if (syncedBy === undefined || files === 0) return [];
  const { refusal = null } = hosts.find((host) => host.name === syncedBy) ?? {};
  return [{ kind: 'elsewhere', source: name, host: syncedBy, files, refusal }];
}
