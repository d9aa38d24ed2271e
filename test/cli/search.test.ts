import { expect, test } from 'vitest';
import { createSite, run, type Site } from './binary.ts';

const INDEXED = { rules: [{ match: ['**'], index: true, tags: { lang: 'en' } }] };

async function createLibrary(fields: Record<string, unknown> = {}, options = {}): Promise<Site> {
  const site = await createSite({ ...INDEXED, ...fields }, options, 'auto');
  site.write('docs/prices.md', '# Prices\n\nA pony costs 12 euros. Pay by card.\n');
  site.write('docs/hours.md', 'We open at nine.\n');
  expect(await site.sync()).toMatchObject({ code: 0 });
  return site;
}

test('search prints the passages that the bot finds, the best first', async () => {
  const { directory, env } = await createLibrary();
  const found = await run(directory, ['search', 'how to pay for a pony'], env);
  expect(found).toMatchObject({ code: 0, stderr: '' });
  expect(found.stdout).toMatch(
    /^prices\.md \(score \d\.\d\d\)\n {2}A pony costs 12 euros\. Pay by card\.\n/u,
  );
  const json = await run(directory, ['search', 'pony', '--tag', 'lang=en', '--limit', '1', '--json'], env);
  expect(json.lines()).toEqual([
    expect.objectContaining({ key: 'prices.md', text: 'A pony costs 12 euros. Pay by card.' }),
  ]);
  const none = await run(directory, ['search', 'pony', '--tag', 'lang=en', '--tag', 'for=kids'], env);
  expect(none).toMatchObject({ code: 0, stdout: 'Nothing found.\n', stderr: '' });
});

test('passages prints what was made of the copy of a local file', async () => {
  const { directory, env } = await createLibrary();
  const made = await run(directory, ['passages', 'docs/prices.md'], env);
  expect(made).toMatchObject({ code: 0, stderr: '' });
  expect(made.stdout).toMatch(/^1 .*\n {2}# Prices\n\n2 .*\n {2}A pony costs 12 euros\./u);
  const json = await run(directory, ['passages', 'docs/prices.md', '--json'], env);
  expect(json.lines()).toHaveLength(2);
  const unsent = await run(directory, ['passages', 'docs/new.md'], env);
  expect(unsent).toMatchObject({ code: 3, stdout: '' });
  expect(unsent.stderr).toBe('the bot has no file new.md: "botsync explain" says why\n');
});

test('a platform that does not serve them, and a configuration that forbids them, are told apart', async () => {
  const old = await createLibrary({}, { operations: 'specified' });
  const unserved = await run(old.directory, ['search', 'pony'], old.env);
  expect(unserved).toMatchObject({ code: 3, stdout: '' });
  expect(unserved.stderr).toMatch(
    /^the bot could not be asked: the platform does not serve this operation \(40[45] MethodNotFound\)\n$/u,
  );
  const { directory, env, emulator, write } = await createLibrary();
  const platform = { botId: 'bot-1', baseUrl: emulator.baseUrl, token: 'env:BOTSYNC_TOKEN' };
  const config = { platform: { ...platform, operations: 'specified' }, sources: [{ directory: './docs' }] };
  write('botsync.config.json', JSON.stringify(config));
  for (const args of [
    ['search', 'pony'],
    ['passages', 'docs/prices.md'],
  ]) {
    const forbidden = await run(directory, args, env);
    expect(forbidden).toMatchObject({ code: 2, stdout: '' });
    expect(forbidden.stderr).toMatch(/^platform\.operations is "specified"/u);
  }
  for (const name of ['search-files', 'list-passages', 'get-file'] as const)
    expect(emulator.counts.get(name) ?? 0).toBe(0);
});

test('what cannot be asked is refused before anything is', async () => {
  const { directory, env } = await createLibrary(
    {
      sources: [{ directory: './docs' }, { name: 'other', directory: './docs', botId: 'bot-2' }],
    },
    { bots: ['bot-1', 'bot-2'].map((id) => ({ id, name: id })) },
  );
  const failures = [
    [['search', ' '], 'the question is empty'],
    [['search', 'x', '--limit', '0'], '--limit 0: write a whole number above 0'],
    [['search', 'x', '--tag', 'de'], '--tag de: write NAME=VALUE'],
    [['search', 'x'], 'the sources belong to several bots; choose one with --source NAME:\n  docs\n  other'],
    [['search', 'x', '--source', 'nope'], '--source nope: source not found'],
    [['passages', '/etc/hosts'], '/etc/hosts is not in any source'],
  ] as const;
  for (const [args, message] of failures) {
    const refused = await run(directory, args, env);
    expect(refused, args.join(' ')).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toContain(message);
  }
  expect(await run(directory, ['search', 'pony', '--source', 'other'], env)).toMatchObject({ code: 0 });
});
