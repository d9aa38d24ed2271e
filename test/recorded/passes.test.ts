import { mkdirSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DRY, ONCE, recorded, ROOT, type Scene } from './scene.ts';

const rulesOfAll = [
  { match: '**', tags: { 'managed-by': 'botsync' } },
  { match: '*.md', index: true, metadata: { level: 1 }, accessPolicies: ['integrations'] },
  { match: 'reports/**', expiresIn: '30d' },
  { match: 'archive/**', index: true, whenTooLargeToIndex: 'skip' },
  { match: 'shelf/**', index: true, whenTooLargeToIndex: 'upload-without-index' },
];

function remove(scene: Scene, ...paths: string[]): void {
  for (const path of paths) rmSync(join(scene.directory, path), { recursive: true });
}

recorded('a first pass and those after it', async (scene) => {
  scene.configure({
    sources: [
      { directory: './docs', keyPrefix: 'docs/', ignore: ['drafts/'] },
      { name: 'twin', directory: './twin', keyPrefix: 'docs/' },
    ],
    rules: rulesOfAll,
    limits: { indexBytes: 100, fileBytes: 200 },
  });
  scene.write('docs/a.md', '# A\n');
  scene.write('docs/empty.txt', '');
  scene.write('docs/reports/october.csv', 'day;rentals\n');
  scene.write('docs/archive/large.md', 'x'.repeat(150));
  scene.write('docs/shelf/large.pdf', 'x'.repeat(150));
  scene.write('docs/large.md', 'x'.repeat(150));
  scene.write('docs/huge.bin', 'x'.repeat(201));
  scene.write('docs/drafts/b.md', 'draft');
  scene.write('docs/c.tmp', 'temporary');
  scene.write('twin/a.md', 'another');
  symlinkSync('a.md', join(scene.directory, 'docs/link.md'));
  for (const path of ['reports/october.csv', 'large.md', 'huge.bin', 'drafts/b.md', 'c.tmp', 'link.md'])
    await scene.run(['explain', `docs/${path}`, '--json']);
  await scene.run(['explain', 'twin/a.md', '--json']);
  await scene.run(DRY);
  await scene.run(ONCE);
  await scene.run(['status', '--json']);
  await scene.run(['sync', '--once', '--log-level', 'debug']);
  await scene.run(['status']);
});

recorded('what a pass finds changed', async (scene) => {
  for (const name of ['changed', 'touched', 'kept', 'ruled']) scene.write(`docs/${name}.md`, name);
  await scene.run(ONCE);
  scene.write('docs/changed.md', 'changed and longer');
  utimesSync(join(scene.directory, 'docs/touched.md'), 1e9, 1e9);
  scene.configure({ rules: [{ match: 'ruled.md', tags: { a: 'b' } }] });
  scene.note('one file changes, one is touched, a rule is added');
  await scene.run(['explain', 'docs/changed.md']);
  await scene.run(['explain', 'docs/touched.md']);
  await scene.run(['explain', 'docs/ruled.md']);
  await scene.run(['sync', '--dry-run']);
  await scene.run(ONCE);
  await scene.run(['sync', '--once', '--force', 'kept*', '--json']);
  await scene.run(['sync', '--once', '--force', 'nothing/**']);
});

// What was written in the two seconds before it is read is looked at again by the next pass: whether it was depends on
// how fast the machine is. This tree is older.
recorded('a tree that nobody writes to', async (scene) => {
  scene.configure({ sources: [{ directory: join(ROOT, 'examples') }] });
  scene.emulator.faults.add({ operation: 'upsert', kind: 'status', status: 413, key: 'terms.pdf' });
  await scene.run(['sync', '--once', '--log-level', 'warn']);
  await scene.run(DRY);
  await scene.run(ONCE);
  await scene.run(['explain', join(ROOT, 'examples/terms.pdf'), '--json']);
  await scene.run(['explain', join(ROOT, 'examples/welcome.md'), '--json']);
});

recorded('what the platform says of a tree that nobody writes to', async (scene) => {
  scene.configure(
    { sources: [{ directory: join(ROOT, 'examples') }], rules: [{ match: '*.md', index: true }] },
    { operations: 'auto' },
  );
  await scene.emulator.conditions.set({
    kind: 'failing-indexing',
    keys: 'welcome.md',
    reason: 'Nothing in it',
  });
  await scene.run(['sync', '--once', '--log-level', 'error']);
  await scene.run(['explain', join(ROOT, 'examples/welcome.md')]);
  await scene.run(['sync', '--dry-run']);
  await scene.run(['ls']);
  await scene.run(['ls', '--failed', '--json']);
  await scene.run(['verify']);
  await scene.run(['verify', '--json']);
});

recorded('removed files that are kept', async (scene) => {
  scene.fill(3);
  await scene.run(ONCE);
  remove(scene, 'docs/01.md');
  renameSync(join(scene.directory, 'docs/02.md'), join(scene.directory, 'docs/renamed.md'));
  scene.note('a file is removed, another renamed');
  await scene.run(['explain', 'docs/01.md', '--json']);
  await scene.run(DRY);
  await scene.run(ONCE);
  await scene.run(['status', '--json']);
  await scene.run(['ls', '--kept']);
});

recorded('kept files that are pruned', async (scene) => {
  await scene.run(['prune', '--kept']);
  scene.configure({}, { operations: 'auto' });
  scene.fill(4);
  await scene.run(ONCE);
  remove(scene, 'docs/01.md', 'docs/02.md');
  scene.note('two files are removed, and kept on the platform');
  await scene.run(ONCE);
  await scene.run(['prune', '--kept']);
  await scene.run(['prune', '--kept', '--dry-run']);
  await scene.run(['prune', '--kept', '--dry-run', '--json']);
  await scene.run(['prune', '--kept', '01*', '--yes']);
  scene.write('docs/02.md', 'back again');
  scene.note('the other is back');
  await scene.run(['prune', '--kept', '--yes']);
  await scene.run(ONCE);
});

recorded('removed files that go', async (scene) => {
  scene.configure({ removals: { mode: 'expire' } });
  scene.fill(4);
  await scene.run(ONCE);
  remove(scene, 'docs/01.md', 'docs/02.md');
  scene.note('two files are removed; the platform refuses to forget the second');
  await scene.run(['explain', 'docs/01.md', '--json']);
  await scene.run(DRY);
  scene.emulator.faults.add({ operation: 'upsert', kind: 'status', status: 409, key: '02.md', times: 2 });
  await scene.run(ONCE);
  scene.write('docs/01.md', 'back again');
  scene.configure({ removals: { mode: 'expire' }, sources: [{ directory: './docs', ignore: ['03.md'] }] });
  scene.note('the first is back, another is ignored by the configuration');
  await scene.run(['explain', 'docs/03.md', '--json']);
  await scene.run(ONCE);
});

recorded('halted sources', async (scene) => {
  const sources = ['docs', 'missing', 'emptied', 'replaced'].map((name) => ({
    directory: `./${name}`,
    keyPrefix: `${name}/`,
  }));
  scene.configure({ removals: { mode: 'expire' }, sources });
  scene.fill(16);
  scene.write('missing/a.md', 'a');
  scene.write('emptied/a.md', 'a');
  scene.write('replaced/a.md', 'a');
  await scene.run(ONCE);
  remove(scene, 'missing', 'emptied/a.md');
  for (let n = 0; n < 12; n++) remove(scene, `docs/${String(n).padStart(2, '0')}.md`);
  renameSync(join(scene.directory, 'replaced'), join(scene.directory, 'before'));
  scene.write('replaced/b.md', 'b');
  scene.write('docs/new.md', 'new');
  scene.note(
    'one directory goes, one is emptied, another takes the place of one, of one go 12 of 16 files and a new one comes',
  );
  await scene.run(DRY);
  await scene.run(ONCE);
  await scene.run(['status', '--json']);
  await scene.run(['status']);
  await scene.run(['sync', '--once', '--allow-removals', '--json']);
});

let aheadMs = 0;
recorded(
  'renewals',
  async (scene) => {
    scene.configure({ rules: [{ match: '*.md', expiresIn: '30d' }] });
    scene.write('docs/a.md', 'a');
    scene.write('docs/b.txt', 'b');
    await scene.run(ONCE);
    await scene.run(['status']);
    aheadMs = 29 * 86_400_000;
    scene.write('docs/c.txt', 'c');
    scene.note('29 days later by the clock of the platform');
    await scene.run(['sync', '--once', '--force', 'c.txt', '--json']);
    await scene.run(['explain', 'docs/a.md', '--json']);
    await scene.run(DRY);
    await scene.run(ONCE);
  },
  { now: () => Date.now() + aheadMs },
);

recorded('names that cannot be keys', async (scene) => {
  mkdirSync(join(scene.directory, 'docs/x'));
  writeFileSync(Buffer.concat([Buffer.from(`${scene.directory}/docs/x/latin-`), Buffer.from([0xfc])]), 'x');
  scene.write('docs/caf\u00e9.md', 'composed');
  scene.write('docs/cafe\u0301.md', 'decomposed');
  scene.write(`docs/${'long/'.repeat(50)}${'n'.repeat(250)}.md`, 'long');
  scene.write('docs/\u001b[31mred.md', 'red');
  await scene.run(ONCE);
  await scene.run(['sync', '--once']);
});

recorded('what the platform says of files', async (scene) => {
  const rules = [{ match: '*.md', index: true }];
  scene.configure({ rules }, { operations: 'auto' });
  scene.write('docs/a.md', 'alpha');
  await scene.run(['sync', '--once', '--no-wait']);
  await scene.run(['status']);
  scene.note('the next pass asks');
  await scene.run(['sync', '--once', '--json']);
  await scene.run(['status']);
  await scene.emulator.conditions.set({ kind: 'failing-indexing', keys: 'b.md', reason: 'Nothing in it' });
  scene.write('docs/b.md', 'beta');
  scene.note('a file comes that cannot be indexed');
  await scene.run(['sync', '--once']);
  await scene.run(['sync', '--once', '--json']);
  await scene.run(['sync', '--dry-run']);
  await scene.run(['status', '--json']);
});
