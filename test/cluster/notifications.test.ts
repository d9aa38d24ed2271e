import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Conversations } from '../../src/cluster/postgres/conversations.ts';
import { DatabaseError } from '../../src/cluster/shared-ledger.ts';
import type { Sql } from '../../src/cluster/postgres/sql.ts';
import { launchHere } from './host-here.ts';
import { createHosts, type Hosts } from './hosts.ts';
import { serverOfFile } from './postgres.ts';

const server = await serverOfFile();

/** Longer than any of it takes. */
const PATIENCE = { timeout: 40_000, interval: 50 };

const NAMES = ['web1', 'web2'] as const;

type Name = (typeof NAMES)[number];

function configOf({ share }: Hosts): Record<string, unknown> {
  return {
    sources: ['docs', 'news'].map((name) => ({
      ...{ name, directory: join(share, name), keyPrefix: `${name}/` },
    })),
    rules: [{ match: '*.mp3', accessPolicies: ['public_content'] }],
    upload: { attempts: 1 },
    notify: { conversation: { channel: 'channel' }, announce: [{ match: '*.mp3' }], summaryEvery: '1h' },
  };
}

interface Message {
  readonly text?: string;
  readonly audioUrl?: string;
}

/** What was sent, in all conversations. */
function messagesIn({ emulator }: Hosts): Message[] {
  return emulator
    .listConversations('bot-1')
    .flatMap(({ id }) => emulator.listMessages(id))
    .map(({ payload }) => payload as Message);
}

/** How many units have it on record that a subject was told. */
async function countTold({ sql }: Hosts, subject: string): Promise<number> {
  return (await sql(`SELECT 1 FROM botsync.entry WHERE tbl = 'told' AND body::text LIKE '%${subject}%'`))
    .length;
}

/** Two hosts with two units, of which each holds one. */
async function launchBoth(hosts: Hosts) {
  const config = configOf(hosts);
  for (const unit of ['docs', 'news']) hosts.write(`${unit}/first.md`, '12');
  const all = {
    web1: await launchHere(hosts, 'web1', { config }),
    web2: await launchHere(hosts, 'web2', { config }),
  };
  await expect
    .poll(async () => [await hosts.holder('docs'), await hosts.holder('news')].sort(), PATIENCE)
    .toEqual(['web1', 'web2']);
  const holder = (await hosts.holder('docs')) as Name;
  const other = holder === 'web1' ? ('web2' as const) : ('web1' as const);
  return { all, holder, other };
}

const BAD = { kind: 'status', status: 409, type: 'ResourceLockedConflict' } as const;

test('whoever holds a unit tells of it, and a takeover repeats nothing', { timeout: 150_000 }, async () => {
  const hosts = await createHosts(server);
  const { emulator } = hosts;
  const texts = (): string[] => messagesIn(hosts).flatMap(({ text }) => text ?? []);
  const announced = (): string[] => messagesIn(hosts).flatMap(({ audioUrl }) => audioUrl ?? []);
  const { all, holder, other } = await launchBoth(hosts);
  for (const unit of ['docs', 'news']) {
    emulator.faults.add({ operation: 'upsert', key: `${unit}/bad.md`, ...BAD, times: Infinity });
    hosts.write(`${unit}/bad.md`, 'x');
  }
  await expect.poll(() => texts().length, PATIENCE).toBe(2);
  expect(texts()).toContainEqual(
    expect.stringMatching(
      new RegExp(`^botsync on ${holder} \\(docs\\): 1 file of docs is not in sync: bad\\.md \\(.*409`, 'u'),
    ),
  );
  expect(texts()).toContainEqual(
    expect.stringMatching(new RegExp(`^botsync on ${other} \\(news\\): 1 file of news is not in sync`, 'u')),
  );
  hosts.write('docs/song.mp3', 'la');
  hosts.write('news/song.mp3', 'la la');
  await all.web1.run('rescan');
  await expect.poll(() => announced().length, PATIENCE).toBe(2);
  // Of both units, whoever was the first to create it.
  expect(emulator.listConversations('bot-1')).toHaveLength(1);
  await expect.poll(() => countTold(hosts, 'failing'), PATIENCE).toBe(2);
  await expect
    .poll(
      () => hosts.sql("SELECT 1 FROM botsync.entry WHERE tbl = 'announcement' AND body::text LIKE '%http%'"),
      PATIENCE,
    )
    .toEqual([]);

  await all[holder].kill();
  await expect.poll(() => hosts.holder('docs'), PATIENCE).toBe(other);
  // What it finds first is nothing new; then it tells of the end of all of it.
  emulator.faults.clear();
  await all[other].run('rescan');
  await expect.poll(() => texts().length, PATIENCE).toBe(4);
  for (const unit of ['docs', 'news'])
    expect(texts()).toContain(`botsync on ${other} (${unit}): all files of ${unit} are in sync again.`);
  // A test message goes there as well, beside a running service.
  await all[other].run('doctor', '--send-test');
  expect(texts().at(-1)).toBe(`botsync on ${other}: this is a test. Notifications of botsync arrive here.`);
  await all[other].stop();
  expect(texts()).toHaveLength(5);
  expect(announced()).toHaveLength(2);
  expect(emulator.listConversations('bot-1')).toHaveLength(1);
});

test('a trouble that all units share is told once a unit', { timeout: 150_000 }, async () => {
  const hosts = await createHosts(server, { recordRequests: true });
  const { requests } = hosts.emulator;
  const texts = (): string[] => messagesIn(hosts).flatMap(({ text }) => text ?? []);
  const { all, holder, other } = await launchBoth(hosts);
  hosts.emulator.faults.add({ operation: 'upsert', kind: 'status', status: 401, times: Infinity });
  for (const unit of ['docs', 'news']) hosts.write(`${unit}/a.md`, 'x');
  await expect.poll(() => texts().length, PATIENCE).toBe(2);
  for (const text of texts())
    expect(text).toMatch(/^botsync on web[12] \((?:docs|news)\): .* credentials: /u);
  await expect.poll(() => countTold(hosts, 'credentials'), PATIENCE).toBe(2);
  const [before, beforeNumber] = [texts(), requests.length];
  await all[holder].kill();
  // It is refused as well: that is no news.
  const isRefused = (): boolean =>
    requests.slice(beforeNumber).some(({ key, status }) => key === 'docs/a.md' && status === 401);
  await expect.poll(isRefused, PATIENCE).toBe(true);
  expect(await hosts.holder('docs')).toBe(other);
  hosts.emulator.faults.clear();
  await all[other].run('rescan');
  await expect.poll(() => texts().length, PATIENCE).toBe(4);
  await all[other].stop();
  const over = ['docs', 'news'].map(
    (unit) => `botsync on ${other} (${unit}): the platform no longer refuses the credentials.`,
  );
  expect(texts().sort()).toEqual([...before, ...over].sort());
});

test('a summary is of one unit, and is sent once', { timeout: 150_000 }, async () => {
  const hosts = await createHosts(server);
  hosts.write('docs/a.md', '12345');
  hosts.write('news/b.md', '123');
  const before = await launchBoth(hosts);
  await expect
    .poll(() => hosts.sql("SELECT 1 FROM botsync.file WHERE body ->> 'verdict' IS NOT NULL"), PATIENCE)
    .toHaveLength(4);
  await expect.poll(() => countTold(hosts, 'summary'), PATIENCE).toBe(2);
  for (const name of NAMES) await before.all[name].stop();
  expect(messagesIn(hosts)).toEqual([]);
  // The last summary was an hour ago.
  await hosts.sql(`UPDATE botsync.entry SET body = jsonb_set(body::jsonb, '{body,told_at}',
    to_jsonb((body -> 'body' ->> 'told_at')::bigint - 3700000))::json WHERE tbl = 'told'`);
  const { all } = await launchBoth(hosts);
  const texts = (): string[] => messagesIn(hosts).flatMap(({ text }) => text ?? []);
  await expect.poll(() => texts().length, PATIENCE).toBe(2);
  for (const one of ['(docs): 2 files in sync (7 B)', '(news): 2 files in sync (5 B)'])
    expect(texts()).toContainEqual(expect.stringContaining(`${one}. Sent since `));
  for (const name of NAMES) await all[name].stop();
  expect(texts()).toHaveLength(2);
});

test('a conversation is that of all hosts, whoever creates it', async () => {
  const hosts = await createHosts(server);
  const sql: Sql = (text, values) => {
    const filled = (values ?? []).reduce<string>(
      (all, value, at) => all.replaceAll(`$${at + 1}`, `'${String(value)}'`),
      text,
    );
    return hosts.sql(filled);
  };
  const [one, other] = [new Conversations(sql, 'botsync'), new Conversations(sql, 'botsync')];
  expect(await one.find('p')).toEqual({ kind: 'ok', value: null });
  // Each has created one.
  expect(await one.save('p', 'c1')).toEqual({ kind: 'ok', value: 'c1' });
  expect(await other.save('p', 'c2')).toEqual({ kind: 'ok', value: 'c1' });
  // One that never took a message is kept.
  await one.learn('p', 'c1', 'missing');
  expect(await one.find('p')).toEqual({ kind: 'ok', value: 'c1' });
  await other.learn('p', 'c1', 'arrived');
  await one.learn('p', 'c1', 'missing');
  expect(await one.find('p')).toEqual({ kind: 'ok', value: null });
  expect(await one.save('p', 'c3')).toEqual({ kind: 'ok', value: 'c3' });
  // Who knows of the deleted one learns that it is, and finds the next.
  expect(await other.find('p')).toEqual({ kind: 'ok', value: 'c1' });
  await other.learn('p', 'c1', 'missing');
  expect(await other.find('p')).toEqual({ kind: 'ok', value: 'c3' });
});

test('without a database there is no conversation, and messages wait', async () => {
  const gone = new Conversations(
    () => Promise.reject(new DatabaseError('unreachable', 'ECONNREFUSED')),
    'botsync',
  );
  const failure = { kind: 'transient', message: 'the database of the cluster: ECONNREFUSED' };
  expect(await gone.find('p')).toEqual({ kind: 'failed', failure });
  expect(await gone.save('p', 'c1')).toEqual({ kind: 'failed', failure });
  await gone.learn('p', 'c1', 'arrived');
  const broken = new Conversations(() => Promise.reject(new TypeError('a defect')), 'botsync');
  await expect(broken.find('p')).rejects.toThrow('a defect');
});

test('two units that send their first message at once create one conversation', async () => {
  const turns: string[] = [];
  const conversations = new Conversations(() => Promise.resolve([]), 'botsync');
  let endFirst = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    endFirst = resolve;
  });
  const first = conversations.inTurn(async () => {
    turns.push('first begins');
    await held;
    turns.push('first ends');
    throw new Error('it failed');
  });
  const second = conversations.inTurn(() => Promise.resolve(turns.push('second')));
  await Promise.resolve();
  endFirst();
  await expect(first).rejects.toThrow('it failed');
  await second;
  expect(turns).toEqual(['first begins', 'first ends', 'second']);
});
