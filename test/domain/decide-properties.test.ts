import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decide, type Candidate, type Decision } from '../../src/domain/decide.ts';
import { checkExpiry, renewalTime } from '../../src/domain/expiry.ts';
import { fingerprintOf, isTrustworthy, nanoseconds } from '../../src/domain/fingerprint.ts';
import type { FileRecord, RecordState } from '../../src/domain/record.ts';
import { resolveSettings, settingsDigest, type FileSettings } from '../../src/domain/settings.ts';
import { DAY, MINUTE, NOW, RECORD } from './fixture.ts';

/** A file on disk. `version` stands for its content; the times are when it was written and when anything about it changed. */
interface Disk {
  readonly version: number;
  readonly sizeBytes: number;
  readonly mtimeMs: number;
  readonly ctimeMs: number;
}

/** A file, what is remembered of it, and what the platform holds. Times in epoch milliseconds. */
interface World {
  readonly disk: Disk;
  readonly settings: FileSettings;
  readonly record: FileRecord | null;
  readonly remote: {
    readonly version: number;
    readonly digest: string;
    readonly expiresAtMs: number | null;
  } | null;
  /** What the content on record was. */
  readonly recordedVersion: number | null;
  readonly nowMs: number;
  readonly sends: number;
}

const facts = ({ sizeBytes, mtimeMs, ctimeMs }: Disk) => ({
  size: BigInt(sizeBytes),
  mtimeNs: nanoseconds(mtimeMs),
  ctimeNs: nanoseconds(ctimeMs),
  ino: 1n,
});

function candidate({ disk, settings }: World): Candidate {
  return {
    fingerprint: fingerprintOf(facts(disk)),
    resolved: { settings, digest: settingsDigest(settings) },
    isInDoubt: false,
  };
}

const decideIn = (world: World): Decision => decide(candidate(world), world.record, world.nowMs, false);

/** What a decision says, done: by a platform that takes everything, or one that refuses. */
function act(world: World, decision: Decision, refuses = false): World {
  switch (decision.kind) {
    case 'none':
    case 'hold':
      return world;
    case 'verify':
      return world.disk.version === world.recordedVersion
        ? { ...world, record: { ...(world.record as FileRecord), ...seen(world) } }
        : send(world, refuses);
    case 'send':
      return send(world, refuses);
  }
}

function seen({ disk, nowMs }: World): Pick<FileRecord, 'fingerprint' | 'trusted'> {
  return { fingerprint: fingerprintOf(facts(disk)), trusted: isTrustworthy(facts(disk), nanoseconds(nowMs)) };
}

function send(world: World, refuses: boolean): World {
  const { settings, nowMs, disk } = world;
  const checked = settings.expiry && checkExpiry(settings.expiry, nowMs);
  if (checked?.kind === 'out-of-range') throw new Error('these settings have no such expiry');
  const expiresAtMs = checked?.expiresAtMs ?? null;
  const digest = settingsDigest(settings);
  const record = recordOf({
    ...seen(world),
    state: refuses ? 'refused' : 'synced',
    settingsDigest: digest,
    expiresAtMs: refuses ? null : expiresAtMs,
  });
  const sends = world.sends + 1;
  if (refuses) return { ...world, record, recordedVersion: null, sends };
  return {
    ...world,
    record,
    recordedVersion: disk.version,
    remote: { version: disk.version, digest, expiresAtMs },
    sends,
  };
}

function recordOf(
  some: Pick<FileRecord, 'state' | 'fingerprint' | 'trusted' | 'settingsDigest' | 'expiresAtMs'>,
): FileRecord {
  return { ...RECORD, ...some };
}

/** Settings with any lifetime that is allowed, and any lead that a rule may ask for. */
const settings: fc.Arbitrary<FileSettings> = fc
  .record({
    tag: fc.constantFrom('1', '2'),
    lifetimeMs: fc.option(
      fc.oneof(
        fc.integer({ min: MINUTE, max: 10 * MINUTE }),
        fc.integer({ min: MINUTE, max: 90 * DAY }),
        fc.constantFrom(MINUTE, 90 * DAY),
      ),
    ),
    renewBeforeMs: fc.option(fc.integer({ min: 1, max: 100 * DAY })),
    renew: fc.boolean(),
  })
  .map(({ tag, lifetimeMs, renewBeforeMs, renew }) =>
    resolveSettings(
      [
        {
          tags: { tag },
          expires: lifetimeMs === null ? null : { kind: 'in', lifetimeMs },
          renewBeforeMs,
          renew,
        },
      ],
      'text/plain',
    ),
  );

/** What may happen to a file from outside. An edit leaves its mark in ctime, as every kernel sees to. */
type Happening =
  | { readonly kind: 'edit'; readonly sizeBytes: number; readonly keepsMtime: boolean }
  | { readonly kind: 'touch' }
  | { readonly kind: 'settings'; readonly settings: FileSettings }
  | { readonly kind: 'time'; readonly ms: number };

const happening: fc.Arbitrary<Happening> = fc.oneof(
  fc.record({ kind: fc.constant('edit' as const), sizeBytes: fc.nat(2), keepsMtime: fc.boolean() }),
  fc.record({ kind: fc.constant('touch' as const) }),
  fc.record({ kind: fc.constant('settings' as const), settings }),
  fc.record({ kind: fc.constant('time' as const), ms: fc.oneof(fc.nat(5000), fc.nat(100 * DAY)) }),
);

function happen(world: World, what: Happening): World {
  const nowMs = world.nowMs + 1;
  switch (what.kind) {
    case 'edit': {
      const { version, mtimeMs } = world.disk;
      const { sizeBytes, keepsMtime } = what;
      return {
        ...world,
        nowMs,
        disk: { version: version + 1, sizeBytes, mtimeMs: keepsMtime ? mtimeMs : nowMs, ctimeMs: nowMs },
      };
    }
    case 'touch':
      return { ...world, nowMs, disk: { ...world.disk, mtimeMs: nowMs, ctimeMs: nowMs } };
    case 'settings':
      return { ...world, nowMs, settings: what.settings };
    case 'time':
      return { ...world, nowMs: nowMs + what.ms };
  }
}

const fresh = (initial: FileSettings): World => ({
  disk: { version: 1, sizeBytes: 1, mtimeMs: NOW, ctimeMs: NOW },
  settings: initial,
  record: null,
  remote: null,
  recordedVersion: null,
  nowMs: NOW,
  sends: 0,
});

/** A world with any past: what happened, and after which happenings a pass was made. */
const past = fc.array(fc.tuple(happening, fc.boolean(), fc.boolean()), { maxLength: 8 });
const worldWithPast = fc.tuple(settings, past).map(([initial, steps]) =>
  steps.reduce((world, [what, isPassed, refuses]) => {
    const next = happen(world, what);
    return isPassed ? act(next, decideIn(next), refuses) : next;
  }, fresh(initial)),
);

test('idempotent: what it says, done, leaves nothing to send', () => {
  fc.assert(
    fc.property(worldWithPast, fc.boolean(), (world, refuses) => {
      const done = act(world, decideIn(world), refuses);
      const again = decideIn(done);
      // What was written a moment ago is read once more, which sends nothing; a refused file has no content on record.
      if (done.record?.trusted === false) return;
      expect(again.kind).toBe(done.record?.state === 'refused' ? 'hold' : 'none');
    }),
    { numRuns: 2000 },
  );
});

test('once a file is at rest two passes are enough, whatever happened before, and the platform has it as it is', () => {
  fc.assert(
    fc.property(worldWithPast, (world) => {
      let now: World = { ...world, nowMs: Math.max(world.nowMs, world.disk.ctimeMs) + 3000 };
      for (let pass = 0; pass < 2; pass++) now = act(now, decideIn(now));
      if (now.record?.state === 'refused') return;
      expect(decideIn(now).kind).toBe('none');
      expect(now.remote).toMatchObject({ version: now.disk.version, digest: settingsDigest(now.settings) });
    }),
    { numRuns: 2000 },
  );
});

test('the order of passes and changes does not matter: passes in between change nothing of the end', () => {
  const atEnd = (steps: readonly (readonly [Happening, boolean])[], initial: FileSettings): unknown => {
    let world = fresh(initial);
    for (const [what, isPassed] of steps) {
      world = happen(world, what);
      if (isPassed) world = act(world, decideIn(world));
    }
    world = { ...world, nowMs: world.nowMs + 3000 };
    for (let pass = 0; pass < 2; pass++) world = act(world, decideIn(world));
    const { version, digest } = world.remote ?? {};
    return { version, digest, kind: decideIn(world).kind };
  };
  fc.assert(
    fc.property(
      settings,
      fc.array(fc.tuple(happening, fc.boolean(), fc.boolean()), { maxLength: 8 }),
      (initial, steps) => {
        const one = atEnd(
          steps.map(([what, isPassed]) => [what, isPassed]),
          initial,
        );
        expect(
          atEnd(
            steps.map(([what, , isPassed]) => [what, isPassed]),
            initial,
          ),
        ).toEqual(one);
      },
    ),
    { numRuns: 2000 },
  );
});

test('terminates: a file that does not change is sent no more often than its renewals call for', () => {
  fc.assert(
    fc.property(settings, fc.array(fc.nat(DAY), { minLength: 1, maxLength: 60 }), (initial, waits) => {
      let world = act({ ...fresh(initial), nowMs: NOW + 3000 }, { kind: 'send', reason: 'new' });
      const { expiry } = initial;
      for (const waitMs of waits) {
        // Sent again, it is not due at once.
        expect(decideIn(world).kind).toBe('none');
        const expiresAtMs = world.record?.expiresAtMs ?? null;
        const renewAtMs = expiresAtMs === null ? null : renewalTime(expiry, expiresAtMs);
        const isDue = renewAtMs !== null && world.nowMs + waitMs >= renewAtMs;
        const { sends } = world;
        world = { ...world, nowMs: world.nowMs + waitMs };
        world = act(world, decideIn(world));
        expect(world.sends - sends).toBe(isDue ? 1 : 0);
        // Whoever renews when it is due never lets it expire.
        if (renewAtMs !== null) expect(renewAtMs).toBeLessThanOrEqual(expiresAtMs as number);
      }
    }),
    { numRuns: 500 },
  );
});

test('each file is decided by itself: the others, and their order, are nothing to it', () => {
  const states = fc.constantFrom<RecordState>('sending', 'synced', 'failed', 'refused', 'removing');
  const pair = fc.tuple(worldWithPast, fc.option(states)).map(([world, state]) => ({
    ...world,
    record: world.record && { ...world.record, state: state ?? world.record.state },
  }));
  fc.assert(
    fc.property(fc.array(pair, { maxLength: 10 }), fc.infiniteStream(fc.nat()), (worlds, order) => {
      const alone = worlds.map((world) => decideIn(structuredClone(world)));
      const shuffled = worlds
        .map((world, place) => ({ world, place, at: order.next().value as number }))
        .sort((a, b) => a.at - b.at);
      for (const { world, place } of shuffled) expect(decideIn(world)).toEqual(alone[place]);
    }),
  );
});
