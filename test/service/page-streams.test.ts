import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { eventually } from '../files/watch-fixture.ts';
import { createSiteWorld, SECRET, type SiteWorld } from './page-world.ts';

/** An open page, as its browser sees it. */
interface OpenPage {
  readonly response: IncomingMessage;
  /** The parts that came, message by message. */
  readonly got: Record<string, string>[];
  readonly heartbeats: () => number;
  readonly text: () => string;
  readonly isOver: () => boolean;
  readonly leave: () => void;
}

async function open({ address }: SiteWorld, query = '', headers = {}): Promise<OpenPage> {
  const call = request(`http://${address}/events${query}`, { headers, agent: false });
  call.on('error', () => undefined);
  call.end();
  const [response] = (await once(call, 'response')) as [IncomingMessage];
  const state = { text: '', rest: '', isOver: false };
  const got: Record<string, string>[] = [];
  response.on('error', () => undefined);
  response.on('data', (chunk: Buffer) => {
    const text = chunk.toString();
    state.text += text;
    state.rest += text;
    if (!text.includes('\n\n')) return;
    const messages = state.rest.split('\n\n');
    state.rest = messages.pop() ?? '';
    got.push(...messages.flatMap((message) => partsIn(message)));
  });
  response.on('close', () => {
    state.isOver = true;
  });
  const leave = (): void => {
    call.destroy();
  };
  onTestFinished(leave);
  return {
    ...{ response, got, leave },
    heartbeats: () => state.text.split('event: clock\n').length - 1,
    text: () => state.text,
    isOver: () => state.isOver,
  };
}

function partsIn(message: string): Record<string, string>[] {
  const [, data] = /^event: parts\ndata: ([^\n]*)$/u.exec(message) ?? [];
  return data === undefined ? [] : [JSON.parse(data) as Record<string, string>];
}

/** Opens a page and waits for its first message. */
async function opened(world: SiteWorld, query = '', headers = {}): Promise<OpenPage> {
  const page = await open(world, query, headers);
  await reached(world, () => page.got.length === 1, 'the first parts come');
  return page;
}

/** Lets time go by, in steps as small as do not count, until a condition holds. */
async function reached({ clock }: SiteWorld, condition: () => boolean, what: string): Promise<void> {
  await eventually(async () => {
    await clock.advance(1);
    return condition();
  }, what);
}

/** Lets time go by, and the wire have its turn. */
async function wait({ clock }: SiteWorld, ms: number): Promise<void> {
  for (let leftMs = ms; leftMs > 0; leftMs -= 500) {
    await clock.advance(Math.min(500, leftMs));
    await new Promise((resolve) => setImmediate(resolve));
  }
}

describe('an open page', () => {
  test('gets all parts at first, then those that changed', async () => {
    const world = await createSiteWorld();
    const page = await opened(world);
    expect(page.response.headers).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    });
    expect(page.text()).toMatch(/^retry: 3000\n\n/u);
    expect(page.got).toEqual([{ state: '<p>fine</p>', events: '<li>1</li>' }]);
    world.change('events', '<li>2</li>\n<li>\u2028</li>');
    await wait(world, 1000);
    await reached(world, () => page.got.length === 2, 'the change comes');
    expect(page.got[1]).toEqual({ events: '<li>2</li>\n<li>\u2028</li>' });
  });

  test('gets nothing for a change that changes no part', async () => {
    const world = await createSiteWorld();
    const page = await opened(world);
    world.change('events', '<li>1</li>');
    await wait(world, 2000);
    expect(world.made).toHaveLength(2);
    world.change('state', '<p>halted</p>');
    await wait(world, 1000);
    await reached(world, () => page.got.length === 2, 'the next change comes');
    expect(page.got[1]).toEqual({ state: '<p>halted</p>' });
  });

  test('is made once a second at most, however much changes', async () => {
    const world = await createSiteWorld();
    const page = await opened(world);
    for (let count = 0; count < 100; count += 1) {
      world.change('events', `<li>${count}</li>`);
      await world.clock.advance(100);
    }
    await wait(world, 1000);
    await reached(world, () => page.got.at(-1)?.['events'] === '<li>99</li>', 'the last change comes');
    expect(world.made.length).toBeGreaterThan(8);
    expect(world.made.length).toBeLessThan(14);
  });

  test('shows once a minute what no change told of, and is otherwise at rest', async () => {
    const world = await createSiteWorld();
    const page = await opened(world);
    world.parts.set('state', '<p>a minute ago</p>');
    await wait(world, 58_000);
    expect(world.made).toHaveLength(1);
    await wait(world, 3000);
    await reached(world, () => page.got.length === 2, 'the time comes');
    expect(world.made).toHaveLength(2);
    expect(page.heartbeats()).toBe(4);
  });

  test('and others that look at the same are made once for all', async () => {
    const world = await createSiteWorld();
    const pages = await Promise.all(
      Array.from({ length: 50 }, (_, position) => open(world, position % 2 === 0 ? '?a=1&b=2' : '?b=2&a=1')),
    );
    const other = await open(world, '?a=2');
    await wait(world, 2000);
    await reached(world, () => [...pages, other].every(({ got }) => got.length === 1), 'all have parts');
    const before = world.made.length;
    world.change('state', '<p>halted</p>');
    await wait(world, 1000);
    await reached(world, () => [...pages, other].every(({ got }) => got.length === 2), 'all have the change');
    expect(world.made.slice(before).sort()).toEqual(['look a=1&b=2', 'look a=2']);
    await wait(world, 10_000);
    expect(world.made).toHaveLength(before + 2);
  });

  test('that nobody has keeps nothing running', async () => {
    const world = await createSiteWorld();
    expect(world.listeners.size).toBe(0);
    const pages = [await opened(world), await opened(world)];
    expect(world.listeners.size).toBe(1);
    for (const { leave } of pages) leave();
    await reached(world, () => world.listeners.size === 0, 'nobody listens any more');
    await reached(world, () => world.clock.sleepers === 0, 'nobody waits any more');
    const before = world.made.length;
    await wait(world, 120_000);
    expect(world.made).toHaveLength(before);
    await opened(world);
    expect(world.listeners.size).toBe(1);
  });

  test('goes on after parts could not be made, which is told once', async () => {
    const world = await createSiteWorld();
    const page = await opened(world);
    const broken = new Error('no state');
    const get = world.parts[Symbol.iterator].bind(world.parts);
    world.parts[Symbol.iterator] = () => {
      throw broken;
    };
    for (const state of ['a', 'b']) {
      world.change('state', state);
      await wait(world, 1500);
    }
    expect(world.failures).toEqual([broken]);
    world.parts[Symbol.iterator] = get;
    world.change('state', 'c');
    await wait(world, 1500);
    await reached(world, () => page.got.at(-1)?.['state'] === 'c', 'the next change comes');
  });
});

test('a client that reads late gets what is newest, not all that came between', async () => {
  const world = await createSiteWorld();
  const page = await opened(world);
  page.response.pause();
  for (let count = 0; count < 3; count += 1) {
    // More than the system takes for a client that does not read.
    world.change('events', `${count}`.repeat(16_000_000));
    await wait(world, 1500);
  }
  page.response.resume();
  await reached(world, () => page.got.at(-1)?.['events']?.startsWith('2') === true, 'the newest comes');
  expect(page.got.map(({ events }) => events?.[0])).toEqual(['<', '0', '2']);
});

describe('what a visitor may do', () => {
  test('shows in the parts while the session lasts', async () => {
    const world = await createSiteWorld();
    const { cookie } = await world.signIn();
    await opened(world, '?q=1', { cookie });
    expect(world.made).toEqual(['act q=1']);
    world.site.adopt(`${SECRET}-2`);
    await wait(world, 2000);
    expect(world.made).toEqual(['act q=1', 'look q=1']);
  });
});

describe('events are refused', () => {
  test.each([
    [{ origin: 'http://evil.example' }, 403],
    [{ origin: 'null' }, 403],
    [{ 'sec-fetch-site': 'cross-site' }, 403],
    [{ 'sec-fetch-site': 'same-site' }, 403],
    [{ 'sec-fetch-site': 'same-origin' }, 200],
    [{}, 200],
  ])('to pages of others: %j gives %i', async (headers, status) => {
    const { send } = await createSiteWorld();
    expect(await send('HEAD', '/events', headers as Record<string, string>)).toMatchObject({ status });
  });

  test('at an address that others reach too', async () => {
    const { send } = await createSiteWorld();
    const headers = { host: '192.0.2.1', origin: 'http://evil.example' };
    expect(await send('GET', '/events', headers)).toMatchObject({ status: 403 });
  });

  test('beyond a hundred, while metrics are still there', async () => {
    const world = await createSiteWorld();
    const pages = await Promise.all(Array.from({ length: 100 }, () => open(world)));
    const refused = await world.send('GET', '/events');
    expect(refused).toMatchObject({ status: 503, headers: { 'retry-after': '60' } });
    expect(await world.send('GET', '/metrics')).toMatchObject({ status: 200 });
    pages[0]?.leave();
    await eventually(async () => (await world.send('HEAD', '/events')).status === 200, 'there is room');
  });
});

describe('a stream ends', () => {
  test('at once when the server is closed', async () => {
    const world = await createSiteWorld();
    const page = await opened(world);
    await world.server.close();
    await reached(world, page.isOver, 'the stream ends');
    await reached(world, () => world.listeners.size === 0, 'nobody listens any more');
  });

  test('at once when the site is closed', async () => {
    const world = await createSiteWorld();
    const page = await opened(world);
    world.site.close();
    await reached(world, page.isOver, 'the stream ends');
  });

  test('when the client reads nothing, and nothing piles up for it until then', async () => {
    const world = await createSiteWorld();
    const reader = await opened(world);
    const socket = connect(Number(world.address.split(':')[1]), '127.0.0.1');
    socket.on('error', () => undefined);
    onTestFinished(() => {
      socket.destroy();
    });
    socket.pause();
    socket.write('GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await wait(world, 2000);
    // More than the system takes for a client that does not read.
    const large = 'x'.repeat(16_000_000);
    for (let count = 0; count < 3; count += 1) {
      world.change('events', `${large}${count}`);
      await wait(world, 1500);
    }
    await reached(world, () => reader.got.at(-1)?.['events']?.at(-1) === '2', 'the other client reads on');
    const closed = once(socket, 'close');
    await wait(world, 45_000);
    socket.resume();
    await closed;
    expect(reader.isOver()).toBe(false);
  }, 60_000);
});

test('a silent stream outlives connections that are silent otherwise', async () => {
  const patience = { connections: 9, patienceMs: 100 };
  const world = await createSiteWorld(null, () => '', patience);
  const page = await opened(world);
  // The system's clock, not the one that stands still, ends this one.
  const idle = connect(Number(world.address.split(':')[1]), '127.0.0.1').resume();
  await once(idle, 'close');
  expect(page.isOver()).toBe(false);
  world.change('state', 'still there');
  await wait(world, 1000);
  await reached(world, () => page.got.length === 2, 'the change comes');
});
