import { existsSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT, readPages, withoutFences, type Page } from './pages.ts';

const pages = readPages();
const anchors = new Map(pages.map((page) => [page.path, anchorsOf(page)]));

/** The anchors that GitHub gives the headings of a page. */
function anchorsOf({ text }: Page): ReadonlySet<string> {
  const found = new Set<string>();
  for (const [, heading = ''] of withoutFences(text).matchAll(/^#{1,6} (.+)$/gmu)) {
    const slug = heading
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/gu, '$1')
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-');
    let anchor = slug;
    for (let twin = 1; found.has(anchor); twin += 1) anchor = `${slug}-${twin}`;
    found.add(anchor);
  }
  return found;
}

/** The relative targets of links, images and link definitions on a page. */
function targetsOf({ text }: Page): string[] {
  const prose = withoutFences(text).replaceAll(/`[^`\n]*`/gu, '');
  const inline = [...prose.matchAll(/\]\(([^)\s]+)[^)]*\)/gu)];
  const definitions = [...prose.matchAll(/^\[[^\]]+\]: (\S+)$/gmu)];
  return [...inline, ...definitions]
    .map(([, target = '']) => target)
    .filter((target) => !/^[a-z]+:/iu.test(target));
}

/** Why a link leads nowhere; `null`: it leads somewhere. */
function problemOf(page: Page, target: string): string | null {
  const [file = '', anchor] = target.split('#');
  const path = file === '' ? page.path : relative(ROOT, join(ROOT, dirname(page.path), decodeURI(file)));
  if (!existsSync(join(ROOT, path))) return `${target}: file not found`;
  if (anchor === undefined || statSync(join(ROOT, path)).isDirectory()) return null;
  return (anchors.get(path)?.has(anchor) ?? true) ? null : `${target}: heading not found`;
}

test.each(pages)('$path: relative links lead to files and headings that exist', (page) => {
  const problems = targetsOf(page).map((target) => problemOf(page, target));
  expect(problems.filter((problem) => problem !== null)).toEqual([]);
});

test('README.md links to every how-to page', () => {
  const readme = pages.find(({ path }) => path === 'README.md');
  const linked = readme === undefined ? [] : targetsOf(readme);
  const guides = pages.map(({ path }) => path).filter((path) => path.startsWith('docs/how-to/'));
  expect(guides.length).toBeGreaterThan(5);
  expect(guides.filter((path) => !linked.includes(path))).toEqual([]);
});

test('links are found, and a wrong one is noticed', () => {
  const page = {
    path: 'docs/X.md',
    text: '[a](COMMANDS.md#verify) [b](NONE.md) [c](COMMANDS.md#none)\n\n[1]: #x',
  };
  expect(targetsOf(page)).toEqual(['COMMANDS.md#verify', 'NONE.md', 'COMMANDS.md#none', '#x']);
  expect(problemOf(page, 'COMMANDS.md#verify')).toBeNull();
  expect(problemOf(page, 'NONE.md')).toBe('NONE.md: file not found');
  expect(problemOf(page, 'COMMANDS.md#none')).toBe('COMMANDS.md#none: heading not found');
});
