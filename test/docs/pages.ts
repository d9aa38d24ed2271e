import { readFileSync, readdirSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';

/** The root of the repository. */
export const ROOT = resolve(import.meta.dirname, '../..');

/** A page of documentation. */
export interface Page {
  /** Relative to the root, such as `docs/COMMANDS.md`. */
  readonly path: string;
  readonly text: string;
}

/** All pages of documentation: those at the root, and those below `docs/`. */
export function readPages(): Page[] {
  const atRoot = readdirSync(ROOT).map((name) => join(ROOT, name));
  const below = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' }).map((name) =>
    join(ROOT, 'docs', name),
  );
  return [...atRoot, ...below]
    .filter((path) => path.endsWith('.md'))
    .map((path) => ({ path: relative(ROOT, path), text: readFileSync(path, 'utf8') }));
}

/** The text of a page without its fenced code, which may hold what looks like headings and links. */
export function withoutFences(text: string): string {
  return text.replaceAll(/^ *```.*?^ *```$/gmsu, '');
}
