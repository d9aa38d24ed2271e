import { describe, expect, test } from 'vitest';
import { sentPaths } from '../sync/daemon-world.ts';
import { asked, confirmed, createAskedWorld, HOUR, MINUTE, untilStatus } from '../sync/confirm/world.ts';
import { FAULTS, SLOW, type Cause, type FaultName } from './faults.ts';

/** Each of them says that the platform, or this token, does without the operation. */
const NOT_SERVED: ReadonlySet<FaultName> = new Set<FaultName>(['403 Forbidden', '405 MethodNotFound']);

/** Faults that strike requests, and are seen at once. */
const STRIKES = (Object.entries(FAULTS) as [FaultName, Cause][]).flatMap(([name, cause]) =>
  cause.kind === 'request' && !SLOW.has(name) ? [[name, cause.action] as const] : [],
);

/** Content that gets its mark by a change afterwards. */
const LARGE = Buffer.alloc(300_000, 'large');

describe.each(['list-files', 'update-file'] as const)('struck: %s', (operation) => {
  test.each(STRIKES)('%s changes nothing for files', async (name, action) => {
    const world = await createAskedWorld({ watch: { rescan: '23d' } });
    const times = name.includes('an hour') ? 1 : 3;
    world.emulator.faults.add({ operation, times, ...action(world.clock.now()) });
    world.write('docs/a.md', 'one');
    world.write('docs/b.bin', LARGE);
    const running = await world.start();
    expect(running.passes[0]).toMatchObject({ exitCode: 0, summary: { uploaded: 2, failed: 0 } });
    await world.wait(MINUTE, 500);
    expect(running.daemon.refusal).toBeNull();
    expect(running.daemon.activity).toMatchObject({ platformOutOfReach: false, blocked: null });
    expect(sentPaths(running).sort()).toEqual(['a.md', 'b.bin']);
    if (operation === 'list-files' && NOT_SERVED.has(name)) {
      expect(asked(world)).toBe(1);
      expect(running.told).toHaveLength(1);
      await untilStatus(world, { files: 2, unconfirmed: 0, failed: 0 });
      return;
    }
    for (let waitedMs = 0; confirmed(running).length < 2 && waitedMs < 2 * HOUR; waitedMs += MINUTE)
      await world.wait(MINUTE, 2000);
    expect([...new Set(confirmed(running))].sort()).toEqual(['a.md searchable', 'b.bin stored']);
    // Where a change says that there is no such file, it is asked about once more.
    expect(confirmed(running).length).toBeLessThanOrEqual(3);
    await untilStatus(world, { files: 2, searchable: 1, stored: 1, failed: 0 });
    expect(sentPaths(running)).toHaveLength(2);
  });
});
