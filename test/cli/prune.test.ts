import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createSite, run, type Ended, type Site } from './binary.ts';
import { launch } from './running-daemon.ts';

/** A site that keeps `old/a.md` and `old/b.md` on the platform, beside `c.md`, which is there. */
async function begin(): Promise<Site & { prune: (...args: string[]) => Promise<Ended> }> {
  const site = await createSite({ removals: { mode: 'keep' } }, {}, 'auto');
  for (const path of ['old/a.md', 'old/b.md', 'c.md']) site.write(`docs/${path}`, path);
  expect((await site.sync()).code).toBe(0);
  rmSync(join(site.directory, 'docs/old'), { recursive: true });
  expect((await site.sync()).code).toBe(0);
  return { ...site, prune: (...args) => run(site.directory, ['prune', ...args], site.env) };
}

const keysOf = ({ emulator }: Site): string[] => emulator.listFiles('bot-1').map(({ key }) => key);

test('what would go is listed, and nothing goes unless somebody says yes', async () => {
  const site = await begin();
  const listed = await site.prune('--kept', '--dry-run');
  expect(listed).toMatchObject({
    code: 0,
    stdout: 'docs/old/a.md  (8 B)\ndocs/old/b.md  (8 B)\n2 files would be removed.\n',
  });
  expect((await site.prune('--kept', '--dry-run', '--json', '*/b.md')).lines()).toEqual([
    { kind: 'prune', source: 'docs', path: 'old/b.md', key: 'old/b.md', bytes: 8 },
  ]);
  const asked = await site.prune('--kept');
  expect(asked.code).toBe(2);
  expect(asked.stderr).toContain('2 files will be removed from the platform:\n  docs/old/a.md  (8 B)\n');
  expect(asked.stderr).toContain('where it cannot ask, add --yes');
  expect((await site.prune('--yes')).stderr).toContain('say what is to be removed: botsync prune --kept');
  expect((await site.prune('--kept', '--yes', '--dry-run')).code).toBe(2);
  expect(keysOf(site)).toEqual(['c.md', 'old/a.md', 'old/b.md']);
});

test('without a service a pass removes what was listed, but for what is in the directory again', async () => {
  const site = await begin();
  const one = await site.prune('--kept', '--yes', 'old/a*');
  expect(one).toMatchObject({ code: 0 });
  expect(one.stderr).toContain('removed docs/old/a.md (kept until it was pruned)');
  expect(keysOf(site)).toEqual(['c.md', 'old/b.md']);
  site.write('docs/old/b.md', 'back');
  const none = await site.prune('--kept', '--yes');
  expect(none).toMatchObject({ code: 0, stdout: 'No kept file can be removed.\n' });
  expect(none.stderr).toContain('1 kept file will stay: in the directory again');
  expect(keysOf(site)).toEqual(['c.md', 'old/b.md']);
});

test('a running service removes them', async () => {
  const site = await begin();
  const daemon = await launch(site);
  const pruned = await site.prune('--kept', '--yes', '--json', 'old/**');
  expect(pruned).toMatchObject({ code: 0 });
  expect(pruned.lines()).toEqual([{ source: 'docs', kind: 'pruning', files: 2 }]);
  await expect.poll(() => keysOf(site), { timeout: 15_000 }).toEqual(['c.md']);
  daemon.child.kill('SIGTERM');
  expect((await daemon.ended).code).toBe(0);
});
