import { existsSync, readFileSync, statSync } from 'node:fs';
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

/** The path of a link's file, relative to the root. */
function pathOf(page: Page, target: string): string {
  const [file = ''] = target.split('#');
  return file === '' ? page.path : relative(ROOT, join(ROOT, dirname(page.path), decodeURI(file)));
}

/** Why a link leads nowhere; `null`: it leads somewhere. */
function problemOf(page: Page, target: string): string | null {
  const [, anchor] = target.split('#');
  const path = pathOf(page, target);
  if (!existsSync(join(ROOT, path))) return `${target}: file not found`;
  if (anchor === undefined || statSync(join(ROOT, path)).isDirectory()) return null;
  return (anchors.get(path)?.has(anchor) ?? true) ? null : `${target}: heading not found`;
}

test.each(pages)('$path: relative links lead to files and headings that exist', (page) => {
  const problems = targetsOf(page).map((target) => problemOf(page, target));
  expect(problems.filter((problem) => problem !== null)).toEqual([]);
});

test('no page below docs/ that is packaged links to a page that is left out of the package', () => {
  const { files } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { files: string[] };
  const leftOut = files.filter((file) => file.startsWith('!docs/')).map((file) => file.slice(1));
  const isLeftOut = (path: string): boolean =>
    leftOut.some((left) => path === left || path.startsWith(`${left}/`));
  const packaged = pages.filter(({ path }) => path.startsWith('docs/') && !isLeftOut(path));
  expect(leftOut).toContain('docs/decisions');
  expect(packaged.length).toBeGreaterThan(15);
  const found = packaged.flatMap((page) =>
    targetsOf(page)
      .filter((target) => isLeftOut(pathOf(page, target)))
      .map((target) => `${page.path}: ${target}`),
  );
  expect(found).toEqual([]);
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
