import { symlinkSync } from 'node:fs';
import { expect, test } from 'vitest';
import { PatternWarnings } from '../../../src/sync/plan/pattern-warnings.ts';
import { findSources } from '../../../src/sync/sources/source.ts';
import { createWorld, type World } from '../world.ts';

const RULES = [
  { match: '**', tags: { a: 'b' } },
  { match: ['docs/*.md', '*.pdf'], index: true },
  { match: '*.txt', source: 'more', index: true },
  { match: 'reports', source: ['docs', 'more'], expiresIn: '30d' },
];

const NOTIFY = { conversationId: 'c', announce: [{ match: ['*.mp3', '*.wav'] }] };
const PUBLIC = { match: '*.{wav,mp3}', accessPolicies: ['public_content'] };
const CHAT = { webhookId: 'w', userKey: 'env:K' };

async function makeWorld(): Promise<World> {
  const sources = [{ directory: './docs' }, { directory: './more' }];
  const world = await createWorld({ sources, rules: RULES });
  return world;
}

/** What a pass warns of. */
async function warnings(world: World): Promise<readonly string[]> {
  return (await world.pass()).warned;
}

test('a pass warns of rules and announcements that match no file, and a dry run tells the same', async () => {
  const world = await makeWorld();
  world.configure({ platform: { chat: CHAT }, rules: [...RULES, PUBLIC], notify: NOTIFY });
  world.write('docs/a.md', 'a');
  world.write('docs/b.wav', 'b');
  world.write('more/reports/c.md', 'c');
  const expected = [
    'rules[1] matches no file ("docs/*.md", "*.pdf"); patterns are relative to the source docs: write "*.md"',
    'rules[2] matches no file ("*.txt"); patterns match paths within the source (more) and are case-sensitive',
    'rules[3] matches no file ("reports"); "reports" is a directory: write "reports/**"',
    'notify.announce matches no file ("*.mp3"); patterns match paths within the source (docs, more) and are case-sensitive',
  ];
  const { unmatched } = await world.plan();
  expect(unmatched.map(({ field, message, hint }) => `${field} ${message}; ${hint}`)).toEqual(expected);
  expect(await warnings(world)).toEqual(expected);
});

test('a file that is on record and gone matches nothing; one that is unchanged, refused or left alone does', async () => {
  const world = await makeWorld();
  world.configure({ rules: RULES.slice(0, 2), removals: { mode: 'expire' }, limits: { fileBytes: 3 } });
  world.write('docs/a.pdf', 'pdf');
  world.write('docs/b', 'b');
  world.write('more/c', 'c');
  expect(await warnings(world)).toEqual([]);
  expect(await warnings(world)).toEqual([]);
  world.write('docs/a.pdf', 'too large');
  expect(await warnings(world)).toEqual([]);
  world.remove('docs/a.pdf');
  expect(await warnings(world)).toHaveLength(1);
  // Its tombstone stands on the platform now.
  expect(await warnings(world)).toHaveLength(1);
});

test('nothing is said where not every file was seen, or there is none', async () => {
  const world = await makeWorld();
  expect(await warnings(world)).toEqual([]);
  world.write('docs/a', 'a');
  expect(await warnings(world)).toHaveLength(2);
  world.remove('more');
  expect(await warnings(world)).toEqual([]);
  expect((await world.plan()).unmatched).toEqual([]);
});

test('a directory that cannot be looked at may hold what matches', async () => {
  const world = await makeWorld();
  world.configure({ sources: [{ directory: './docs', symlinks: 'follow' }, { directory: './more' }] });
  world.write('docs/a', 'a');
  symlinkSync('nowhere', world.at('docs/closed'));
  expect(await warnings(world)).toEqual([]);
});

test('the passes of a daemon say it once, after the first that met files and saw all of them', async () => {
  const world = await makeWorld();
  const config = world.config();
  const told: string[] = [];
  const warnings = new PatternWarnings(config, (message) => told.push(message));
  const walk = (...paths: readonly string[]): void => {
    const sources = findSources(config, 'p').flatMap((one) => (one.kind === 'found' ? [one.source] : []));
    for (const path of paths) sources[0]?.rules.resolve(path);
    warnings.passWalked(sources);
  };
  walk();
  warnings.passWalked([]);
  expect(told).toEqual([]);
  walk('a.pdf');
  expect(told).toEqual([expect.stringMatching(/^rules\[3\] matches no file/u)]);
  // The files that matched may be deleted one day.
  walk('b');
  expect(told).toHaveLength(1);
});
