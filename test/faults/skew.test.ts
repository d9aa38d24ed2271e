import { expect, test } from 'vitest';
import { openReader } from '../../src/store/open-reader.ts';
import { createDaemonWorld } from '../sync/daemon-world.ts';
import { createWorld } from '../sync/world.ts';

const HOUR = 3_600_000;

/** A file lives for half a day on a platform whose clock is a day off: renewed by the wrong clock it would be gone. */
const FIELDS = { rules: [{ match: '**', expiresIn: '12h' }] };

interface Skewed {
  clock: { readonly now: () => number } | null;
  readonly now: () => number;
}

/** The time of a platform so many hours ahead of the clock that comes to be. */
function skewedBy(hours: number): Skewed {
  const skewed: Skewed = { clock: null, now: () => (skewed.clock?.now() ?? Date.now()) + hours * HOUR };
  return skewed;
}

test.each([24, -24])('a daemon keeps what expires on a platform %d h ahead', async (hours) => {
  const platform = skewedBy(hours);
  const world = await createDaemonWorld(FIELDS, { now: platform.now });
  platform.clock = world.clock;
  world.write('docs/a.md', 'a');
  const { daemon } = await world.start();
  for (let hour = 0; hour < 20; hour++) {
    await world.wait(HOUR, 300_000);
    // While it is renewed, its content is gone for moments.
    await world.until(() => daemon.activity.sending === 0, 'nothing is on its way');
    expect(world.remote('a.md')).toBe('a');
  }
});

async function hoursWithout(hours: number): Promise<number[]> {
  const platform = skewedBy(hours);
  const world = await createWorld(FIELDS, { now: platform.now });
  platform.clock = world.clock;
  world.write('docs/a.md', 'a');
  const missing: number[] = [];
  for (let hour = 0; hour < 40; hour++) {
    expect(await world.pass()).toMatchObject({ exitCode: 0 });
    if (world.remote('a.md') === null) missing.push(hour);
    world.clock.advance(HOUR);
  }
  return missing;
}

test('passes now and then keep what expires on a platform a day behind', async () => {
  expect(await hoursWithout(-24)).toEqual([]);
});

// A pass that has nothing to send asks nothing, and goes by what earlier ones were told.
test('passes now and then keep what expires on a platform a day ahead', async () => {
  expect(await hoursWithout(24)).toEqual([]);
});

test.each([
  [24, 24],
  [-24, 0],
])('of a platform %d h ahead a pass remembers %d h', async (hours, remembered) => {
  const platform = skewedBy(hours);
  const world = await createWorld(FIELDS, { now: platform.now });
  platform.clock = world.clock;
  world.write('docs/a.md', 'a');
  await world.pass();
  const opened = openReader(world.config().stateFile, false);
  if (opened.kind !== 'open') throw new Error(opened.kind);
  expect(Math.round(opened.reader.platformAheadMs() / HOUR)).toBe(remembered);
  opened.close();
});
