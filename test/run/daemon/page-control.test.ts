import { once } from 'node:events';
import { chmodSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { get, request, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Overview } from '../../../src/domain/status.ts';
import { expect, test } from 'vitest';
import type { SyncDaemon } from '../../../src/run/botsync.ts';
import { actionValue, type PageAction } from '../../../src/service/page-source.ts';
import { askDaemon } from '../../../src/service/daemon-socket.ts';
import { createSite, type Site } from '../../cli/binary.ts';
import { openSite } from '../open-site.ts';

const SECRET = 'the-secret-of-this-page';
const POLL = { interval: 20 };

/** Nothing but what is asked for is sent. */
const UNWATCHED = { upload: { attempts: 1 }, watch: { poll: true, pollInterval: '1h' } };

/** A daemon in this process, and its page as a visitor sees it. */
interface Visited {
  readonly site: Site;
  readonly daemon: SyncDaemon;
  /** Where it listens; another place after a reload may be. */
  readonly addresses: string[];
  /** All that was logged, as JSON. */
  readonly log: () => string;
  /** How many passes have ended, and why each was made. */
  readonly triggers: string[];
  readonly sent: string[];
  readonly document: (cookie?: string) => Promise<string>;
  readonly signIn: (secret?: string) => Promise<{ status: number | undefined; cookie: string }>;
  /** Presses a button of the page; the notice that the page shows then. */
  readonly press: (cookie: string, action: PageAction) => Promise<string>;
}

async function visit(fields: Record<string, unknown> = {}): Promise<Visited> {
  const site = await createSite({
    service: { listen: '127.0.0.1:0', control: 'file:control', reloadOnChange: false },
    ...fields,
  });
  site.write('control', `${SECRET}\n`);
  chmodSync(join(site.directory, 'control'), 0o600);
  const lines: string[] = [];
  const note = (message: string, about: object = {}): void => {
    lines.push(JSON.stringify({ message, ...about }));
  };
  const triggers: string[] = [];
  const sent: string[] = [];
  const sync = openSite(site, {
    log: { debug: note, info: note, warn: note, error: note },
    observer: {
      passEnded: (trigger) => triggers.push(trigger),
      event: ({ kind, outcome, path }) => {
        if (kind === 'upload' && outcome === 'done') sent.push(path);
      },
    },
  });
  const addresses: string[] = [];
  const daemon = await sync.start({ listening: (address) => addresses.push(address) });
  await expect.poll(() => triggers.length, POLL).toBe(1);
  const here = (): string => addresses.at(-1) ?? '';

  const post = async (target: string, form: Record<string, string>, cookie: string) => {
    const origin = `http://${here()}`;
    const headers = { origin, cookie, 'content-type': 'application/x-www-form-urlencoded' };
    const call = request(`${origin}${target}`, { method: 'POST', headers, agent: false });
    call.end(new URLSearchParams(form).toString());
    const [response] = (await once(call, 'response')) as [IncomingMessage];
    await text(response);
    return response;
  };
  const document: Visited['document'] = async (cookie = '') => {
    const call = get(`http://${here()}/`, { headers: { cookie }, agent: false });
    const [response] = (await once(call, 'response')) as [IncomingMessage];
    return await text(response);
  };
  return {
    ...{ site, daemon, addresses, triggers, sent, document },
    log: () => lines.join('\n'),
    signIn: async (secret = SECRET) => {
      const { statusCode, headers } = await post('/session', { secret }, '');
      return { status: statusCode, cookie: headers['set-cookie']?.[0]?.split(';')[0] ?? '' };
    },
    press: async (cookie, action) => {
      const csrf = /name="csrf" value="([^"]+)"/u.exec(await document(cookie))?.[1] ?? '';
      const { statusCode } = await post('/control', { csrf, action: actionValue(action) }, cookie);
      expect(statusCode).toBe(303);
      return /class="notice"[^>]*>([^<]*)</u.exec(await document(cookie))?.[1] ?? '';
    },
  };
}

/** Resolves when an answer is over, however. */
function closedOf(response: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    response.once('close', () => {
      resolve();
    });
  });
}

/** Opens the events of a page; resolves once they flow. */
async function listen(address: string): Promise<IncomingMessage> {
  const call = get(`http://${address}/events`, { agent: false });
  call.on('error', () => undefined);
  const [response] = (await once(call, 'response')) as [IncomingMessage];
  response.on('error', () => undefined);
  await once(response, 'data');
  response.resume();
  return response;
}

test('from the page everything is rescanned, and a failed file is tried again', async () => {
  const { site, document, signIn, press, triggers, sent, log } = await visit(UNWATCHED);
  expect(await document()).not.toContain('id="control"');
  const { cookie } = await signIn();
  expect(await document(cookie)).toContain('id="control"');
  const failure = { operation: 'upload', key: 'a.md', kind: 'status', status: 403, times: 1 } as const;
  site.emulator.faults.add(failure);
  site.write('docs/a.md', 'a');
  expect(await press(cookie, { kind: 'rescan', source: null })).toBe(
    'Everything is being checked, and failed files are retried.',
  );
  await expect.poll(() => triggers, POLL).toEqual(['start', 'asked']);
  expect(sent).toEqual([]);
  expect(await press(cookie, { kind: 'retry', source: 'docs', path: 'a.md' })).toBe(
    'Being checked now: docs/a.md.',
  );
  await expect.poll(() => sent, POLL).toEqual(['a.md']);
  expect(log()).toContain(
    '{"message":"the page: retry","source":"docs","path":"a.md","outcome":"Being checked now: docs/a.md.","client":"127.0.0.1"}',
  );
});

test('from the page a halted source is let go on', async () => {
  const { site, daemon, signIn, press, log } = await visit({
    removals: { mode: 'expire', delay: '1s', maxCount: 1 },
    watch: { settle: '20ms', rescan: '1h' },
  });
  for (const name of ['a', 'b', 'c', 'd']) site.write(`docs/${name}.md`, name);
  const { cookie } = await signIn();
  await press(cookie, { kind: 'rescan', source: null });
  await expect.poll(() => site.emulator.readContent('bot-1', 'd.md')?.toString(), POLL).toBe('d');
  for (const name of ['a', 'b', 'c']) rmSync(join(site.directory, 'docs', `${name}.md`));
  await expect.poll(() => daemon.impediments.join(), POLL).toMatch(/^docs is halted/u);
  const [halted] = (daemon.status() as Overview).sources;
  expect(await press(cookie, { kind: 'approve', source: 'docs', halt: 'another' })).toContain(
    'Not approved: docs. It is halted by something else now',
  );
  expect(await press(cookie, { kind: 'approve', source: 'docs', halt: halted?.halt?.digest ?? '' })).toBe(
    'Approved, once: docs.',
  );
  await expect.poll(() => daemon.impediments, POLL).toEqual([]);
  expect(log()).toMatch(
    /"the page: approve","source":"docs","halt":"\w+","outcome":"Approved, once: docs\."/u,
  );
});

test('a secret that a reload changes signs everybody out, and one that is wrong changes nothing', async () => {
  const { site, daemon, signIn, document } = await visit();
  const { cookie } = await signIn();
  site.write('control', 'short');
  expect((await daemon.reload()).problem).toMatch(/service\.control: the secret has only 5 characters/u);
  expect(await document(cookie)).toContain('id="control"');
  site.write('control', `${SECRET}-2`);
  expect(await daemon.reload()).toEqual({ problem: null });
  expect(await document(cookie)).not.toContain('id="control"');
  expect(await signIn()).toMatchObject({ status: 403 });
  expect(await signIn(`${SECRET}-2`)).toMatchObject({ status: 303 });
});

test('open pages keep no daemon from reloading, nor from stopping', async () => {
  const { site, daemon, addresses } = await visit();
  const [before = ''] = addresses;
  const first = await listen(before);
  const file = join(site.directory, 'botsync.config.json');
  const config = JSON.parse(readFileSync(file, 'utf8')) as { service: object };
  const ended = closedOf(first);
  const service = { ...config.service, listen: '127.0.0.2:0' };
  writeFileSync(file, JSON.stringify({ ...config, service }));
  expect(await daemon.reload()).toEqual({ problem: null });
  await ended;
  expect(addresses[1]).toMatch(/^127\.0\.0\.2:/u);
  const second = await listen(addresses[1] ?? '');
  const closed = closedOf(second);
  await daemon.stop();
  await closed;
});

test('without a secret for it nothing can be done from the page, and no secret is on it', async () => {
  const { site, document, signIn, addresses, log } = await visit({ service: { listen: '127.0.0.1:0' } });
  expect(await signIn()).toEqual({ status: 404, cookie: '' });
  const page = await document();
  expect(page).not.toMatch(/<form[^>]*method="post"/u);
  const stream = await listen(addresses[0] ?? '');
  let events = '';
  stream.on('data', (chunk: Buffer) => (events += chunk.toString()));
  site.write('docs/a.md', 'a');
  await expect.poll(() => events.includes('a.md'), POLL).toBe(true);
  for (const told of [page, events, log(), await document()]) {
    for (const secret of [SECRET, site.emulator.token]) expect(told).not.toContain(secret);
    expect(told).not.toMatch(/signature=|uploadUrl/iu);
  }
});

test('who reaches the socket rescans a path, and no other file of this machine', async () => {
  const { site, sent } = await visit(UNWATCHED);
  const stateFile = join(site.directory, '.botsync/state.db');
  const ask = async (query: string): Promise<unknown> => {
    const answer = await askDaemon(stateFile, 'POST', `/rescan${query}`, AbortSignal.timeout(15_000));
    return answer.kind === 'ok' ? JSON.parse(answer.body) : answer;
  };
  expect(await ask('?source=docs&path=..%2Fcontrol')).toEqual({ rescan: { kind: 'outside' }, trouble: null });
  expect(await ask('?source=docs&path=a.md')).toEqual({
    rescan: { kind: 'path', waitsFor: null },
    trouble: null,
  });
  renameSync(join(site.directory, 'docs'), join(site.directory, 'docs-2'));
  site.write('docs/b.md', 'b');
  expect(await ask('')).toMatchObject({ rescan: { kind: 'pass' } });
  expect(sent).not.toContain('control');
});
