import type { PageFacts, SourceFacts } from '../../src/page/facts.ts';
import type { ClusterFacts, HostFacts, UnitFacts } from '../../src/domain/cluster-status.ts';
import { EMPTY_SOURCE } from '../../src/sync/plan/overview.ts';
import type { NotInSync, SourceStatus, HaltStatus, Running } from '../../src/domain/status.ts';
import { standingOf, withRetries } from '../../src/sync/plan/standing.ts';

/** The moment of all pages of tests. */
export const NOW_MS = Date.parse('2026-11-22T12:00:00Z');

/** A moment so many seconds from then, ISO 8601. */
export function at(seconds: number): string {
  return new Date(NOW_MS + seconds * 1000).toISOString();
}

const WATCHING: Running = {
  activity: 'watching',
  isFirstPassOver: true,
  watchedDirectories: 3,
  queued: 0,
  sending: 0,
  outage: null,
  refusal: null,
  shortage: null,
  nextPass: at(600),
  failedAgain: at(60),
  renewalsAgain: null,
  trouble: null,
};

/** What a page is made from: how the sources stand, which files are not in sync, what the daemon does, and the rest. */
export interface Scene {
  readonly sources?: readonly (Partial<SourceStatus> & { readonly name: string })[];
  readonly failures?: readonly (Pick<NotInSync, 'path' | 'reason'> & Partial<NotInSync>)[];
  readonly running?: Partial<Running>;
  readonly cluster?: ClusterFacts;
  readonly facts?: Partial<PageFacts>;
}

/** A halt that can be approved. */
export const HALT: HaltStatus = { kind: 'mass-removal', digest: '1a', files: 102, first: ['gone.md'] };

/** A unit with one source of its name. */
export function unitOf(name: string, holderHost: string, more: Partial<UnitFacts> = {}): UnitFacts {
  const usual = { epoch: 1, isConfigured: true, isHalted: false, whyUntaken: null };
  return { name, sources: [name], holderHost, ...usual, ...more };
}

/** A host that is up. */
export function hostOf(name: string, more: Partial<HostFacts> = {}): HostFacts {
  return { name, version: '1.2.3', alive: true, isMe: false, hindrances: [], ...more };
}

/** The facts of a daemon with one source "docs" of 1,204 files, all in sync unless the scene says otherwise. */
export function factsOf(scene: Scene = {}): PageFacts {
  const running = { ...WATCHING, ...scene.running };
  const sources = (scene.sources ?? [{ name: 'docs' }]).map((source) => ({
    ...EMPTY_SOURCE,
    ...{ files: 1204, bytes: 3_400_000, searchable: 1204 },
    ...source,
  }));
  const failures = (scene.failures ?? []).map((failure) => ({
    ...{ source: 'docs', key: failure.path, kind: 'failed' as const, retry: 'pass' as const, retryAt: null },
    ...failure,
  }));
  const overview = {
    sources,
    failures,
    lastPass: null,
    sinceLastPass: null,
    lastVerification: null,
    pause: null,
  };
  const known = {
    ...withRetries(overview, running, { kind: 'running' }),
    ...(scene.cluster && { cluster: scene.cluster }),
  };
  return {
    nowMs: NOW_MS,
    version: '1.2.3',
    host: 'web1',
    pid: 4711,
    startedAtMs: NOW_MS - 3_600_000,
    bots: [{ id: 'bot-1', name: 'Velo rentals' }],
    lastInSyncMs: NOW_MS - 12_000,
    commandEnd: ' -c /etc/botsync.json',
    isAsked: true,
    removals: 'delete',
    known,
    running,
    standing: standingOf(known, running),
    sources: sources.map(({ name }): SourceFacts => ({
      name,
      directory: `/srv/${name}`,
      botId: 'bot-1',
      keyPrefix: '',
      notices: { kind: 'watching', directories: 3 },
      wouldRemove: [],
    })),
    transfers: { inFlight: [], bytesPerSecond: 0, filesPerSecond: 0, leftMs: null, firstPass: null },
    requests: {
      ...{ lastMinute: 0, limit: null, pausedForMs: 0 },
      ...{ ownRequestsPerSecond: null, ownBytesPerSecond: null },
    },
    history: [],
    renewals: [],
    events: [],
    usage: null,
    ...scene.facts,
  };
}
