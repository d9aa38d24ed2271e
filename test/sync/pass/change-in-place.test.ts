import { utimesSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { ModelClock } from '../../model/model-clock.ts';
import { deleteAs, tellAs } from '../others.ts';
import { createWorld, createWorldWith, type World } from '../world.ts';

const MANUAL = { match: '**', tags: { kind: 'manual', gone: 'x' }, metadata: { team: 'a', gone: 1 } };
const LETTER = { match: '**', tags: { kind: 'letter' }, metadata: { team: 'b' } };
const DAY_MS = 86_400_000;

/** A world with one file of which the platform has said that it has its content. */
async function confirmedWorld(rule: object = MANUAL) {
  const world = await createWorld({ platform: { operations: 'auto' }, rules: [rule] });
  world.write('docs/a', 'content');
  await world.pass();
  // What is taken over is confirmed.
  world.remove('.botsync');
  expect(await world.pass()).toMatchObject({ summary: { adopted: 1 } });
  return world;
}

function only(world: World) {
  const [file] = world.emulator.listFiles('bot-1');
  if (file === undefined) throw new Error('no file');
  return file;
}

/** The requests of a pass, as `METHOD operation`. */
async function asked(world: World): Promise<{ readonly asked: string[]; readonly pass: unknown }> {
  const before = world.emulator.requests.length;
  const pass = await world.pass();
  const since = world.emulator.requests.slice(before);
  return { asked: since.map(({ method, path }) => `${method} ${path.replace(/file_\w+/u, 'ID')}`), pass };
}

describe('other settings', () => {
  test('are told without content, and names that no rule gives any more are taken back', async () => {
    const world = await confirmedWorld();
    const { id, metadata } = only(world);
    await tellAs(world, 'a', { tags: { theirs: 'kept' } });
    world.configure({ rules: [{ ...LETTER, accessPolicies: ['integrations'] }] });
    expect(await world.plan()).toMatchObject({
      summary: { updated: 1, uploaded: 0, bytes: 0 },
      events: [{ kind: 'update', reason: 'settings-changed' }],
    });
    const { asked: requests, pass } = await asked(world);
    expect(requests).toEqual(['PUT /v1/files/ID']);
    expect(pass).toMatchObject({
      exitCode: 0,
      summary: { updated: 1, uploaded: 0, bytes: 0 },
      events: [{ kind: 'update', path: 'a', reason: 'settings-changed', outcome: 'done' }],
    });
    expect(only(world)).toMatchObject({ id, accessPolicies: ['integrations'] });
    expect(only(world).tags).toEqual({ kind: 'letter', theirs: 'kept' });
    expect(only(world).metadata).toEqual({ team: 'b', botsync: metadata['botsync'] });
    expect(world.remote('a')).toBe('content');
    expect(await world.pass()).toMatchObject({ requests: 0, summary: { unchanged: 1 } });
  });

  test.each([
    ['index', { ...LETTER, index: true }],
    ['content type', { ...LETTER, contentType: 'text/html' }],
  ])('another %s is sent', async (_what, rule) => {
    const world = await confirmedWorld();
    world.configure({ rules: [rule] });
    expect(await world.plan()).toMatchObject({ summary: { updated: 0, uploaded: 1 } });
    const { asked: requests } = await asked(world);
    expect(requests).toEqual(['PUT /v1/files', expect.stringMatching(/^PUT \/upload/u)]);
  });

  test('of a file with another content are sent with it', async () => {
    const world = await confirmedWorld();
    world.configure({ rules: [LETTER] });
    world.write('docs/a', 'CONTENT');
    expect(await world.pass()).toMatchObject({ summary: { uploaded: 1, updated: 0 } });
    expect(world.remote('a')).toBe('CONTENT');
  });

  test('of a file that was written just before it was sent are told once its content is compared', async () => {
    const world = await confirmedWorld();
    // As a pass records a file that was written less than two seconds before.
    world.sql('UPDATE file SET trusted = 0');
    world.configure({ rules: [LETTER] });
    expect(await world.pass()).toMatchObject({ requests: 1, summary: { updated: 1, uploaded: 0 } });
    // The same fingerprint with another content.
    world.sql('UPDATE file SET trusted = 0, sha256 = ?', Buffer.alloc(32));
    world.configure({ rules: [MANUAL] });
    expect(await world.pass()).toMatchObject({ summary: { updated: 0, uploaded: 1 } });
  });

  test('of a file that was touched are sent with it: its content may be another', async () => {
    const world = await confirmedWorld();
    world.configure({ rules: [LETTER] });
    utimesSync(world.at('docs/a'), 1, 1);
    expect(await world.pass()).toMatchObject({ summary: { uploaded: 1, updated: 0 } });
  });

  test('of a file that is not confirmed are sent with it', async () => {
    const world = await createWorld({ platform: { operations: 'auto' }, rules: [MANUAL] });
    world.write('docs/a', 'content');
    await world.pass();
    world.configure({ rules: [LETTER] });
    expect(await world.pass()).toMatchObject({ summary: { uploaded: 1, updated: 0 } });
  });

  test('with platform.operations "specified" are sent with the file', async () => {
    const world = await confirmedWorld();
    world.configure({ platform: { operations: 'specified' }, rules: [LETTER] });
    expect(await world.plan()).toMatchObject({ summary: { uploaded: 1, updated: 0 } });
    expect(await world.pass()).toMatchObject({ requests: 2, summary: { uploaded: 1, updated: 0 } });
  });
});

describe('what the platform does otherwise than asked', () => {
  test.each([
    ['has another id now', { id: 'file_other' }],
    ['has another size now', { size: 1 }],
    ['did not change', { tags: { kind: 'manual' } }],
    ['kept a name that was taken back', { tags: { kind: 'letter', gone: 'x' } }],
  ])('a file that %s is sent', async (_what, lie) => {
    const world = await confirmedWorld();
    world.configure({ rules: [LETTER] });
    const file = { ...only(world), tags: { kind: 'letter' }, metadata: { team: 'b' }, ...lie };
    const body = JSON.stringify({ file });
    world.fail('update-file', 200, { body });
    expect(await world.pass()).toMatchObject({ exitCode: 0, summary: { uploaded: 1, updated: 0 } });
  });

  test.each([404, 405, 501])(
    'an operation that is not served (%d) is asked for once a day',
    async (status) => {
      const world = await confirmedWorld();
      world.fail('update-file', status, {
        body: JSON.stringify({ code: status, type: 'MethodNotFound', message: 'no' }),
      });
      world.configure({ rules: [LETTER] });
      expect(await world.pass()).toMatchObject({ exitCode: 0, requests: 3, summary: { uploaded: 1 } });
    },
  );

  test('a file that is gone is sent', async () => {
    const world = await confirmedWorld();
    await deleteAs(world, 'a');
    world.configure({ rules: [LETTER] });
    expect(await world.pass()).toMatchObject({ exitCode: 0, summary: { uploaded: 1, updated: 0 } });
    expect(world.remote('a')).toBe('content');
  });

  test('a failure that passes is tried again', async () => {
    const world = await confirmedWorld();
    world.fail('update-file', 500, { times: 2 });
    world.configure({ rules: [LETTER] });
    expect(await world.pass()).toMatchObject({ exitCode: 0, requests: 3, summary: { updated: 1 } });
  });

  test('a failure that does not pass is told, and the content stays on record', async () => {
    const world = await confirmedWorld();
    world.fail('update-file', 409, { times: Infinity });
    world.configure({ rules: [LETTER] });
    const { exitCode, summary, events } = await world.pass();
    expect({ exitCode, summary }).toMatchObject({ exitCode: 3, summary: { failed: 1, uploaded: 0 } });
    expect(events).toMatchObject([
      { kind: 'update', outcome: 'failed', error: expect.stringMatching(/409/u) as string },
    ]);
    expect(world.status()).toMatchObject({ failures: [{ kind: 'pending', path: 'a' }] });
    world.emulator.faults.clear();
    expect(await world.pass()).toMatchObject({ exitCode: 0, requests: 1, summary: { updated: 1 } });
  });
});

describe('a renewal', () => {
  const RENEWED = { match: '**', tags: { kind: 'manual' }, expiresIn: '10d', renewBefore: '2d' };

  test('tells another expiry and sends nothing', async () => {
    const world = await confirmedWorld(RENEWED);
    const before = only(world).expiresAt;
    world.clock.advance(9 * DAY_MS);
    expect(await world.plan()).toMatchObject({ summary: { renewed: 1, bytes: 0 } });
    const { asked: requests, pass } = await asked(world);
    expect(requests).toEqual(['PUT /v1/files/ID']);
    expect(pass).toMatchObject({ exitCode: 0, summary: { renewed: 1, bytes: 0 } });
    expect(Date.parse(only(world).expiresAt ?? '') - Date.parse(before ?? '')).toBe(9 * DAY_MS);
    expect(world.remote('a')).toBe('content');
    expect(await world.pass()).toMatchObject({ requests: 0 });
  });

  test('of a file that is to stay for ever from now on takes the expiry away', async () => {
    const world = await confirmedWorld(RENEWED);
    world.configure({ rules: [{ match: '**', tags: { kind: 'manual' } }] });
    expect(await world.pass()).toMatchObject({ requests: 1, summary: { updated: 1 } });
    expect(only(world).expiresAt).toBeUndefined();
  });
});

test('an expiry is told by the time of the platform, whatever a clock that is days behind says', async () => {
  const clock = new ModelClock(Date.now());
  clock.skewMs = -5 * DAY_MS;
  const world = await createWorldWith(
    clock,
    { platform: { operations: 'auto' } },
    { now: clock.platformNow },
  );
  world.write('docs/a', 'content');
  await world.pass({ confirmForMs: 60_000 });

  world.configure({ rules: [{ match: '**', expiresIn: '2d', renewBefore: '12h' }] });
  // The first request is refused: its answer says what time it is.
  expect((await asked(world)).asked).toEqual(['PUT /v1/files/ID', 'PUT /v1/files/ID']);
  const lifetimeMs = Date.parse(only(world).expiresAt ?? '') - clock.platformNow();
  // Expiries are whole minutes.
  expect(Math.abs(lifetimeMs - 2 * DAY_MS)).toBeLessThan(65_000);

  // The clock is put right: one answer tells so.
  clock.skewMs = 0;
  await world.pass();
  expect(await world.pass()).toMatchObject({ requests: 0 });
});

test.each([
  ['by the next', { between: 'x' }, LETTER, { kind: 'letter' }],
  ['though the rules are as before', LETTER.tags, MANUAL, MANUAL.tags],
])('what was told by a change that a kill cut short is taken back %s', async (_how, told, rule, tags) => {
  const world = await confirmedWorld();
  world.configure({ rules: [{ match: '**', tags: told }] });
  // The platform carries it out, and botsync does not learn of it.
  world.emulator.faults.add({ operation: 'update-file', kind: 'apply-then-drop', times: Infinity });
  expect(await world.pass()).toMatchObject({ exitCode: 3 });
  world.emulator.faults.clear();
  expect(only(world).tags).toEqual(told);
  world.configure({ rules: [rule] });
  expect(await world.pass()).toMatchObject({ exitCode: 0, summary: { updated: 1, uploaded: 0 } });
  expect(only(world).tags).toEqual(tags);
  expect(await world.pass()).toMatchObject({ requests: 0, summary: { unchanged: 1 } });
});

test('a change that the file was written to in the midst of is made up for by sending', async () => {
  const world = await confirmedWorld();
  world.configure({ rules: [LETTER] });
  await world.pass();
  writeFileSync(world.at('docs/a'), 'other!!');
  expect(await world.pass()).toMatchObject({ summary: { uploaded: 1 } });
  expect(world.remote('a')).toBe('other!!');
});
