import { readFileSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { fileURLToPath } from 'node:url';

/** A position in a file of the bundle, as in stack traces. */
const PLACE = /(file:\/\/[^\s()]+\.js):(\d+):(\d+)/gu;

/**
 * Returns the stack trace of a defect with positions in `src/` instead of the bundle: `src/sync/pass/pass.ts:12:3`.
 * Reads the source maps only now, which costs nothing at the start; with Node's own option every map is read as its
 * file is loaded. Positions without a map stay as they are.
 */
export function sourceStack(error: unknown): string {
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  const maps = new Map<string, SourceMap | null>();
  return stack.replaceAll(PLACE, (place, url: string, line: string, column: string) => {
    const known = maps.get(url);
    const map = known === undefined ? readMap(url) : known;
    maps.set(url, map);
    const entry = map?.findEntry(Number(line) - 1, Number(column) - 1);
    if (entry === undefined || !('originalSource' in entry)) return place;
    const { originalSource, originalLine, originalColumn } = entry;
    // Sources are relative to dist/cli, two levels below the package.
    const source = originalSource.replace(/^(?:\.\.\/)+/u, '');
    return `${source}:${originalLine + 1}:${originalColumn + 1}`;
  });
}

function readMap(url: string): SourceMap | null {
  try {
    return new SourceMap(JSON.parse(readFileSync(`${fileURLToPath(url)}.map`, 'utf8')) as SourceMapPayload);
  } catch {
    return null;
  }
}
