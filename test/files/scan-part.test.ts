import { chmodSync, rmSync, symlinkSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { RelativePath } from '../../src/domain/key.ts';
import { scan, type ScanTarget } from '../../src/files/scan.ts';
import { entriesOf, plant, target, tree } from './scan-fixture.ts';

/** What a scan of one path says, as `path` or `kind path`. */
function part(one: ScanTarget, path: string): string[] {
  const lines: string[] = [];
  for (const entry of scan(one, path as RelativePath)) {
    if (entry.kind !== 'tick') lines.push(entry.kind === 'file' ? entry.path : `${entry.kind} ${entry.path}`);
  }
  return lines;
}

/** The same out of a scan of everything. */
function partOfWhole(one: ScanTarget, path: string): string[] {
  return entriesOf(one)
    .filter((entry) => entry.path === path || entry.path.startsWith(`${path}/`))
    .map((entry) => (entry.kind === 'file' ? entry.path : `${entry.kind} ${entry.path}`));
}

describe('a scan of one path says what a scan of everything says of it', () => {
  const root = (): string => {
    const made = tree('a/b/c.md', 'a/b/d/e.md', 'a/b-c', 'a/b.c', 'a/drafts/x', 'b', 'keep/it.tmp', 'z/');
    symlinkSync('../b', `${made}/a/file-link`);
    symlinkSync('../a', `${made}/z/up`);
    symlinkSync('a/b', `${made}/dir-link`);
    symlinkSync('nowhere', `${made}/lost`);
    symlinkSync('/', `${made}/out`);
    return made;
  };
  const paths = [
    ...['a', 'a/b', 'a/b/c.md', 'a/b/d', 'a/b-c', 'a/drafts', 'a/drafts/x', 'b', 'keep/it.tmp', 'z'],
    ...[
      'a/file-link',
      'dir-link',
      'dir-link/d/e.md',
      'z/up',
      'z/up/b',
      'z/up/file-link',
      'lost',
      'out',
      'no',
      'b/x',
      'a/no/x',
    ],
  ];
  test.each(['skip', 'inside'] as const)('links: %s', (symlinks) => {
    const one = target(root(), { symlinks, patterns: ['drafts/', '!keep/*.tmp'] });
    for (const path of paths) expect(part(one, path), path).toEqual(partOfWhole(one, path));
  });

  test('loops of links end where they end for everything', () => {
    const made = tree('a/b/c');
    symlinkSync('../..', `${made}/a/b/up`);
    const one = target(made, { symlinks: 'follow' });
    for (const path of ['a', 'a/b', 'a/b/up']) expect(part(one, path), path).toEqual(partOfWhole(one, path));
  });
});

test('nothing is known of what lies below a link that leads nowhere', () => {
  const made = tree('real/x');
  symlinkSync('real', `${made}/link`);
  rmSync(`${made}/real`, { recursive: true });
  expect(part(target(made, { symlinks: 'inside' }), 'link/x')).toEqual(['unlisted link/']);
});

test.skipIf(process.getuid?.() === 0)('a path that cannot be looked at is not taken for gone', () => {
  const made = tree('shut/x');
  chmodSync(`${made}/shut`, 0);
  expect(part(target(made), 'shut/x')).toEqual(['unseen shut/x']);
  chmodSync(`${made}/shut`, 0o700);
});

test('a file instead of a directory hides what was below', () => {
  const made = tree('a');
  plant(made, 'b/c');
  expect(part(target(made), 'a/x')).toEqual([]);
  expect(part(target(made), 'b/c/d')).toEqual([]);
});
