import { once } from 'node:events';
import { createServer } from 'node:http';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { RecordsFeed, StateFileFacts } from '../../../src/cli/status/status-feed.ts';
import { createWorld, type World } from '../../sync/world.ts';

/** Answers at the place of a daemon; `null`: with 500. Returns what ends that. */
async function serve(stateFile: string, status: () => unknown): Promise<() => Promise<unknown>> {
  const server = createServer((_request, response) => {
    const told = status();
    response.writeHead(told === null ? 500 : 200).end(JSON.stringify(told));
  });
  server.listen(`${stateFile}.socket`);
  await once(server, 'listening');
  const close = async (): Promise<void> => {
    if (server.listening) await promisify(server.close.bind(server))();
  };
  onTestFinished(close);
  return close;
}

function feedOf(world: World, nowMs: () => number): RecordsFeed {
  const config = world.config();
  return new RecordsFeed(config.stateFile, new StateFileFacts(config, config.platform.baseUrl, nowMs));
}

const TOLD = {
  ...{ sources: [], failures: [], lastPass: null, sinceLastPass: null, lastVerification: null },
  daemon: { pid: 1, host: 'here', since: '2026-01-01T00:00:00.000Z', command: 'sync', activity: 'watching' },
};

test('a state file is read again when somebody wrote to it, and once a minute', async () => {
  const world = await createWorld();
  world.write('docs/a.md', 'one');
  await world.pass();
  const feed = feedOf(world, world.clock.now);
  const first = await feed.next();
  expect(first).toMatchObject({ known: { service: { kind: 'none' } }, daemon: null });
  expect(first.known.sources).toMatchObject([{ name: 'docs', files: 1 }]);
  const second = await feed.next();
  // Whoever reads anew makes a new list.
  expect(second.known.sources).toBe(first.known.sources);
  world.write('docs/b.md', 'two');
  await world.pass();
  const third = await feed.next();
  expect(third.known.sources).toMatchObject([{ name: 'docs', files: 2 }]);
  world.clock.advance(60_000);
  const later = await feed.next();
  expect(later.known.sources).not.toBe(third.known.sources);
  expect(later.known.sources).toEqual(third.known.sources);
});

test('what was written within the last seconds is not trusted to be all', async () => {
  const world = await createWorld();
  await world.pass();
  const feed = feedOf(world, Date.now);
  const first = await feed.next();
  expect((await feed.next()).known.sources).not.toBe(first.known.sources);
});

test('a daemon is asked while there is one; where it gives no answer the state file is read', async () => {
  const world = await createWorld();
  await world.pass();
  const { stateFile } = world.config();
  const feed = feedOf(world, world.clock.now);
  let answer: unknown = TOLD;
  const end = await serve(stateFile, () => answer);
  const told = await feed.next();
  expect(told).toMatchObject({
    known: { service: { kind: 'running' } },
    daemon: { pid: 1, isFirstPassOver: true },
  });
  expect(told.known.sources).toEqual([]);
  answer = null;
  expect(await feed.next()).toMatchObject({
    known: {
      service: { kind: 'silent', reason: 'it answered with status 500; see its log' },
      sources: [{ name: 'docs' }],
    },
  });
  await end();
  expect(await feed.next()).toMatchObject({ known: { service: { kind: 'none' } }, daemon: null });
  await serve(stateFile, () => TOLD);
  expect(await feed.next()).toMatchObject({ known: { service: { kind: 'running' } } });
});
