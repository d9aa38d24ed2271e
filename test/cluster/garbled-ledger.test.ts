import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { launchHere } from './host-here.ts';
import { createHosts } from './hosts.ts';
import { serverOfFile } from './postgres.ts';

const server = await serverOfFile();

/** Longer than a unit that failed is left alone. */
const PATIENCE = { timeout: 45_000, interval: 50 };

/** What somebody may have made of a record of `docs/a.md` or its unit, with a piece of what is said of it. */
const NONSENSE: [string, string][] = [
  [`UPDATE botsync.file SET body = 'null' WHERE body ->> 'key' = 'docs/a.md'`, 'of a file (Cannot read'],
  [
    `UPDATE botsync.entry SET body = '{ "tbl": "pass", "key": "[1]", "body": { "number": "x" } }' WHERE tbl = 'pass' AND unit = (SELECT id FROM botsync.unit WHERE name = 'docs')`,
    'an entry of "pass" (',
  ],
];

describe('a record in the ledger that somebody made nonsense of', { timeout: 240_000 }, () => {
  test.each(NONSENSE)('keeps its unit from being synced, and nothing else: %s', async (garble, words) => {
    const hosts = await createHosts(server);
    const sources = ['docs', 'faq'].map((name) => ({
      ...{ name, directory: join(hosts.share, name), keyPrefix: `${name}/` },
    }));
    hosts.write('docs/a.md', 'first');
    hosts.write('faq/a.md', 'first');
    const options = { config: { sources } };
    const before = await launchHere(hosts, 'web1', options);
    await expect
      .poll(async () => (await hosts.sql(`SELECT 1 FROM botsync.entry WHERE tbl = 'pass'`)).length, PATIENCE)
      .toBe(2);
    await before.stop();
    await hosts.sql(garble);

    const said = `a record of docs in the ledger cannot be read: ${words}`;
    const fix = 'delete this row, or restore a backup of the database';
    const web1 = hosts.host('web1', options);
    // Whoever reads the ledger is told, as far as that record matters for the answer.
    for (const args of [['status'], ['ls']]) {
      const { code, stderr } = await web1.run(...args);
      expect({ code, stderr }).toEqual({ code: 3, stderr: expect.stringContaining(said) as string });
      expect(stderr).toContain(fix);
      expect(stderr).not.toMatch(/^ +at /mu);
    }
    const once = await web1.run('sync', '--once');
    expect(once).toMatchObject({ code: 3, stderr: expect.stringContaining(said) as string });

    const running = await launchHere(hosts, 'web1', options);
    hosts.write('faq/b.md', 'second');
    await expect.poll(() => hosts.content('faq/b.md'), PATIENCE).toBe('second');
    await expect
      .poll(() => running.log.join('\n'), PATIENCE)
      .toContain(`docs cannot be synced by this host: ${said}`);
    await expect
      .poll(() => web1.run('status'), PATIENCE)
      .toMatchObject({
        code: 3,
        stdout: expect.stringContaining(`docs is synced by no host: ${said}`) as string,
      });

    // It is tried again by itself.
    await hosts.sql(`DELETE FROM botsync.file WHERE body ->> 'key' IS NULL OR body ->> 'size' = 'much'`);
    await hosts.sql(
      `DELETE FROM botsync.entry WHERE json_typeof(body) <> 'object' OR body -> 'body' ->> 'number' = 'x'`,
    );
    hosts.write('docs/b.md', 'third');
    await expect.poll(() => hosts.content('docs/b.md'), PATIENCE).toBe('third');
    await running.stop();
  });
});

test('rows of hosts and units that somebody made nonsense of stop nobody', { timeout: 120_000 }, async () => {
  const hosts = await createHosts(server);
  hosts.write('docs/a.md', 'first');
  const [web1, web2] = [await launchHere(hosts, 'web1'), hosts.host('web2')];
  await expect.poll(() => hosts.content('a.md'), PATIENCE).toBe('first');
  await hosts.sql(`
    INSERT INTO botsync.host (name, instance, beat, is_visitor, version, units, hindrances) VALUES
      ('a', 'i', 5, true, '1', '{ "a": 1 }', '5'), ('b', 'i', 5, true, '1', 'null', '[null, { "kind": "unseen" }]'),
      ('c', 'i', 5, true, '1', '["x", null]', 'null');
    INSERT INTO botsync.unit (target, name, sources, holder, holder_host) SELECT target, other.name, other.sources::json, 'x', 'a'
      FROM botsync.unit, (VALUES ('n', 'null'), ('m', '[null, 5]'), ('o', '[{ "name": 5, "keyPrefix": 7 }]')) AS other (name, sources)
      WHERE unit.name = 'docs';
    UPDATE botsync.unit SET sources = '{ "a": 1 }' WHERE name = 'docs'`);
  hosts.write('docs/b.md', 'second');
  await expect.poll(() => hosts.content('b.md'), PATIENCE).toBe('second');
  const sources = async (): Promise<unknown> =>
    (await hosts.sql(`SELECT sources FROM botsync.unit WHERE name = 'docs'`))[0]?.['sources'];
  await expect.poll(sources, PATIENCE).toEqual([{ name: 'docs', keyPrefix: '' }]);
  expect(await web1.run('status')).toMatchObject({ code: 0, stderr: '' });
  expect(await web2.run('cluster', 'status')).toMatchObject({ stderr: '' });
  expect(await web2.run('sync', '--once')).toMatchObject({ code: 6 });
  await web1.stop();
});
