import { join } from 'node:path';
import { mkdirSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { toldBefore } from '../../src/library/cluster/told-before.ts';
import { createHosts, type Hosts } from './hosts.ts';
import { serverOfFile } from './postgres.ts';

const server = await serverOfFile();

/** Longer than any of it takes. */
const PATIENCE = { timeout: 40_000, interval: 50 };

const RULES = [{ match: '*.mp3', accessPolicies: ['public_content'] }];

function configOf(hosts: Hosts, sources: Record<string, unknown>[] = []): Record<string, unknown> {
  return {
    sources: [{ name: 'docs', directory: join(hosts.share, 'docs'), keyPrefix: 'docs/' }, ...sources],
    rules: RULES,
    upload: { attempts: 1 },
    notify: { conversation: { channel: 'channel' }, announce: [{ match: '*.mp3' }], summaryEvery: '1h' },
  };
}

interface Message {
  readonly text?: string;
  readonly audioUrl?: string;
}

/** What people were told, in all conversations. */
function toldIn({ emulator }: Hosts): Message[] {
  return emulator
    .listConversations('bot-1')
    .flatMap(({ id }) => emulator.listMessages(id))
    .map(({ payload }) => payload as Message);
}

const BAD = { kind: 'status', status: 409, type: 'ResourceLockedConflict' } as const;

/** The host that sends notifications. */
async function notifierOf(hosts: Hosts): Promise<string | null> {
  const [row] = await hosts.sql(
    "SELECT holder_host FROM botsync.unit WHERE name LIKE 'notifications (%' AND holder IS NOT NULL",
  );
  return (row?.['holder_host'] as string | undefined) ?? null;
}

test('people are told once, by one host for all, whichever that is', { timeout: 150_000 }, async () => {
  const hosts = await createHosts(server);
  const { emulator } = hosts;
  const own = join(hosts.share, '..', 'of-web3');
  mkdirSync(own);
  writeFileSync(join(own, 'bad.md'), 'x');
  hosts.write('docs/bad.md', 'x');
  hosts.write('docs/a.md', 'x');
  emulator.faults.add({ operation: 'upsert', key: 'docs/bad.md', ...BAD });
  emulator.faults.add({ operation: 'upsert', key: 'branch/bad.md', ...BAD });
  const names = ['web1', 'web2', 'web3'] as const;
  const branch = { name: 'branch', directory: own, keyPrefix: 'branch/', host: 'web3' };
  // Whoever has only pinned sources tells people as well as any.
  const options = { cluster: { weight: 0 }, config: configOf(hosts, [branch]) };
  const all = {
    web1: hosts.host('web1', { config: configOf(hosts) }),
    web2: hosts.host('web2', { config: configOf(hosts) }),
    web3: hosts.host('web3', options),
  };
  const running = { web1: all.web1.launch(), web2: all.web2.launch(), web3: all.web3.launch() };
  const told = (): string[] => toldIn(hosts).flatMap(({ text }) => text ?? []);

  // One conversation, one message of each trouble; a source that is pinned is named with its host.
  await expect.poll(() => told().length, PATIENCE).toBe(2);
  expect(emulator.listConversations('bot-1')).toHaveLength(1);
  expect(told()).toContainEqual(
    expect.stringMatching(/^botsync on web1, web2, web3: 1 file of docs is not in sync: bad\.md \(.*409/u),
  );
  expect(told()).toContainEqual(
    expect.stringMatching(/^botsync on web1, web2, web3: 1 file of branch@web3 is not in sync: bad\.md/u),
  );

  // What other hosts send is announced by the one that tells people.
  // Nonsense among it ends no host.
  await hosts.sql(`INSERT INTO botsync.wish (unit, kind, body) SELECT id, 'announce', body::json FROM botsync.unit,
    (VALUES ('null'), ('{"target":999,"key":"x","sha256":"07","url":"https://x/","notedAtMs":1}'),
      ('{"target":0.5,"key":"x","sha256":"07","url":"https://x/","notedAtMs":1}')) AS nonsense (body)
    WHERE name LIKE 'notifications (%'`);
  hosts.write('docs/song.mp3', 'la');
  writeFileSync(join(own, 'song.mp3'), 'la la');
  const announced = (): string[] => toldIn(hosts).flatMap(({ audioUrl }) => audioUrl ?? []);
  await expect.poll(() => announced().length, PATIENCE).toBe(2);
  await expect.poll(() => hosts.sql('SELECT * FROM botsync.wish'), PATIENCE).toEqual([]);

  // Who tells people is killed: another one knows what they were told.
  const first = await notifierOf(hosts);
  expect(names).toContain(first);
  const status = await all[first === 'web1' ? 'web2' : 'web1'].run('status');
  expect(status.stdout).toMatch(new RegExp(`${String(first)} .*sends the notifications`, 'u'));
  for (const name of names.filter((one) => one === first)) {
    running[name].child.kill('SIGKILL');
    await running[name].ended;
  }
  await expect.poll(() => notifierOf(hosts), PATIENCE).not.toBe(first);
  emulator.faults.clear();
  for (const name of names.filter((one) => one !== first)) await all[name].run('rescan');
  const ends = first === 'web3' ? 1 : 2;
  await expect.poll(() => told().length, PATIENCE).toBe(2 + ends);
  expect(told().filter((text) => text.includes('all files of docs are in sync again'))).toHaveLength(1);
  expect(emulator.listConversations('bot-1')).toHaveLength(1);
  expect(announced()).toHaveLength(2);
  for (const name of names.filter((one) => one !== first)) running[name].child.kill('SIGTERM');
  for (const name of names) await running[name].ended;
});

test('the summary is of all hosts, and told once', { timeout: 150_000 }, async () => {
  const hosts = await createHosts(server);
  const own = join(hosts.share, '..', 'of-web2');
  mkdirSync(own);
  writeFileSync(join(own, 'c.md'), '123');
  for (const name of ['a', 'b']) hosts.write(`docs/${name}.md`, '12345');
  const branch = { name: 'branch', directory: own, keyPrefix: 'branch/', host: 'web2' };
  const web1 = hosts.host('web1', { config: configOf(hosts) });
  const web2 = hosts.host('web2', { cluster: { weight: 0 }, config: configOf(hosts, [branch]) });
  const isSummedUp = async (): Promise<boolean> => {
    const rows = await hosts.sql(
      "SELECT 1 FROM botsync.entry WHERE tbl = 'told' AND body::text LIKE '%summary%'",
    );
    return rows.length === 1;
  };
  const before = [web1.launch(), web2.launch()];
  await expect.poll(() => hosts.emulator.listFiles('bot-1').length, PATIENCE).toBe(3);
  await expect.poll(isSummedUp, PATIENCE).toBe(true);
  for (const one of before) one.child.kill('SIGTERM');
  for (const one of before) await one.ended;
  // The last summary was an hour ago.
  await hosts.sql(`UPDATE botsync.entry SET body = jsonb_set(body::jsonb, '{body,told_at}',
    to_jsonb((body -> 'body' ->> 'told_at')::bigint - 3700000))::json WHERE tbl = 'told'`);
  await hosts.sql('UPDATE botsync.unit SET settled_at = settled_at - 3700000');
  const after = [web1.launch(), web2.launch()];
  const told = (): string[] => toldIn(hosts).flatMap(({ text }) => text ?? []);
  await expect.poll(() => told().length, PATIENCE).toBe(1);
  expect(told()[0]).toMatch(
    /^botsync on web1, web2: 3 files in sync \(13 B\)\. Sent since .*: 3 files \(13 B\)\. No problems\.$/u,
  );
  for (const one of after) one.child.kill('SIGTERM');
  for (const one of after) await one.ended;
});

test('what hosts told by themselves is known to the first that tells people for all, and to no other', async () => {
  const hosts = await createHosts(server);
  await hosts.sql("INSERT INTO botsync.target (base_url, bot_id, identity) VALUES ('x', 'bot-1', '{}')");
  await hosts.sql(`INSERT INTO botsync.unit (target, name, sources, seq) VALUES
    (1, 'docs', '[{ "name": "docs", "keyPrefix": "" }]', 1), (1, 'notifications (1)', '[]', 0)`);
  const entry = (tbl: string, body: object): string =>
    `(1, '${tbl}', '', '\\x${tbl.length + 10}', '${JSON.stringify({ tbl, key: tbl, body })}')`;
  await hosts.sql(`INSERT INTO botsync.entry (unit, tbl, host, key_hash, body) VALUES
    ${entry('told', { subject: '["failing","docs"]', told_at: 5, size: 3 })},
    ${entry('conversation', { purpose: 'a', id: 'c1', proven: 1 })}, ${entry('pass', { number: 1 })}`);
  expect(await toldBefore(hosts.sql, 'botsync')).toEqual({
    told: new Map([['["failing","docs"]', { toldAtMs: 5, count: 3 }]]),
    conversations: new Map([['a', { id: 'c1', isProven: true }]]),
  });
  await hosts.sql("UPDATE botsync.unit SET seq = 1 WHERE name LIKE 'notifications%'");
  expect(await toldBefore(hosts.sql, 'botsync')).toEqual({ told: new Map(), conversations: new Map() });
});
