import { symlinkSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { explained } from '../explained.ts';
import { createSyncedWorld, createWorld, refuseUpserts } from '../world.ts';

const DAY = 86_400_000;

describe.each(['keep', 'expire', 'delete'])(
  'the dry run (removals %s) removes nothing that a pass would not',
  (mode) => {
    const removals = { mode };

    test('of a file that another source has now, under the same key', async () => {
      const world = await createWorld({
        removals,
        sources: [
          { directory: './docs', name: 'docs' },
          { directory: './more', name: 'more', keyPrefix: 'x/' },
        ],
      });
      for (const file of ['docs/x/f.md', 'docs/y.md', 'more/z.md']) world.write(file, 'f');
      await world.pass();
      world.move('docs/x/f.md', 'more/f.md');
      const plan = await world.plan();
      expect(plan.summary).toMatchObject({ removed: 0, kept: 0, unchanged: 3 });
      expect((await world.pass()).summary).toMatchObject({ removed: 0, unchanged: 3 });
    });

    test('of a name that is spelt in another normal form now', async () => {
      const world = await createWorld({ removals });
      for (const file of ['docs/\u00e9.md', 'docs/y.md']) world.write(file, 'f');
      await world.pass();
      world.move('docs/\u00e9.md', 'docs/e\u0301.md');
      const plan = await world.plan();
      expect(plan.summary).toMatchObject({ removed: 0, kept: 0, unchanged: 2 });
      expect((await world.pass()).summary).toMatchObject({ removed: 0, kept: 0, unchanged: 2 });
    });
  },
);

describe('explain says what the dry run says', () => {
  test.each([
    [
      'a link that leads nowhere',
      'problem',
      (at: string) => {
        symlinkSync('nowhere', at);
      },
    ],
    [
      'a link that leads out of the source',
      'skip',
      (at: string) => {
        symlinkSync('/etc/hostname', at);
      },
    ],
    [
      'a pipe',
      'skip',
      (at: string) => {
        execFileSync('mkfifo', [at]);
      },
    ],
  ] as const)('of %s', async (_what, kind, place) => {
    const world = await createWorld({ sources: [{ directory: './docs', symlinks: 'inside' }] });
    world.write('docs/a.md', 'a');
    place(world.at('docs/odd'));
    const [event] = (await world.plan()).events.filter(({ path }) => path.startsWith('odd'));
    expect(event).toMatchObject({ kind });
    expect(explained(world, 'odd')).toMatchObject({ action: kind, reason: event?.reason });
  });

  test('of a link to a directory, where links are not followed', async () => {
    const world = await createWorld();
    world.write('docs/a.md', 'a');
    world.write('far/b.md', 'b');
    symlinkSync('../far', world.at('docs/linked'));
    const [event] = (await world.plan()).events.filter(({ path }) => path === 'linked');
    expect(event).toMatchObject({ kind: 'skip' });
    expect(explained(world, 'linked')).toMatchObject({ action: 'skip', reason: event?.reason });
  });

  test('of a moment that is past by the time of the platform', async () => {
    const expiresAt = new Date(Date.now() + DAY).toISOString();
    const ahead = (): number => Date.now() + 2 * DAY;
    const world = await createWorld({ rules: [{ match: 'soon.md', expiresAt }] }, { now: ahead });
    world.write('docs/a.md', 'a');
    await world.pass();
    world.write('docs/soon.md', 's');
    const [event] = (await world.plan()).events;
    expect(event).toMatchObject({ kind: 'refuse' });
    expect(explained(world, 'soon.md')).toMatchObject({
      action: 'refuse',
      reason: event?.reason,
      upsert: null,
    });
  });

  test.each([
    ['takes its key over', 'x', 'problem'],
    ['is refused', 'more than is indexed', 'none'],
  ])('of a file on record whose twin in a source before it %s', async (_what, content, action) => {
    const sources = [
      { directory: './more', name: 'more' },
      { directory: './docs', name: 'docs' },
    ];
    const rules = [{ match: '*.md', source: 'more', index: true }];
    const world = await createWorld({ sources, rules, limits: { indexBytes: 10 } });
    for (const path of ['docs/a.md', 'more/b.md']) world.write(path, 'a');
    await world.pass();
    world.write('more/a.md', content);
    const event = (await world.plan()).events.find(({ source }) => source === 'docs');
    const said = explained(world, 'a.md', 'docs');
    expect(said).toMatchObject({ action, reason: event?.reason ?? 'unchanged' });
  });

  test('of a twin whose source has a prefix in another normal form', async () => {
    const world = await createWorld({
      sources: [
        { directory: './more', name: 'more' },
        { directory: './docs', name: 'docs', keyPrefix: 'e\u0301/' },
      ],
    });
    world.write('docs/a.md', 'a');
    world.write('more/\u00e9/a.md', 'b');
    world.configure({
      sources: [
        { directory: './more', name: 'more', keyPrefix: 'e\u0301/' },
        { directory: './docs', name: 'docs', keyPrefix: '\u00e9/\u00e9/' },
      ],
    });
    const said = explained(world, 'a.md');
    expect((await world.plan()).events.find(({ source }) => source === 'docs')).toMatchObject({
      kind: 'problem',
    });
    expect(said).toMatchObject({ action: 'problem', reason: expect.stringContaining('more/') as string });
  });
});

test('explain says of a file that was never sent and is gone that nothing is left of it', async () => {
  const world = await createWorld({ upload: { attempts: 1 } });
  for (const name of ['a.md', 'b.md']) world.write(`docs/${name}`, name);
  refuseUpserts(world, 400, { key: 'a.md' });
  await world.pass();
  world.remove('docs/a.md');
  expect(explained(world, 'a.md')).toMatchObject({
    action: 'none',
    reason: expect.stringContaining('deleted before it reached') as string,
  });
  world.makeDirectory('docs/sub');
  expect(explained(world, 'sub')).toMatchObject({
    action: 'none',
    reason: expect.stringContaining('directory') as string,
  });
});

test('explain says of a file that is ignored from now on that the platform still has it', async () => {
  const world = await createSyncedWorld(['a.md', 'b.md']);
  world.write('docs/.botsyncignore', 'a.md\n');
  expect(explained(world, 'a.md')).toMatchObject({
    action: 'skip',
    reason: expect.stringMatching(/^ignored by .*; its copy on the platform is left alone$/u) as string,
  });
});
