import { readFileSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { fileURLToPath } from 'node:url';

/** A place in a file of the bundle, as stack traces write it. */
const PLACE = /(file:\/\/[^\s()]+\.js):(\d+):(\d+)/gu;

/**
 * The stack trace of a defect, with places in `src/` instead of the bundle's: `src/sync/pass/pass.ts:12:3`. The source
 * maps beside the bundle are read only now, so that a start pays nothing for them: Node itself, told to use them, reads the
 * map of every file as it loads it. What has no map stays as it is.
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
    // Sources are named from dist/cli, two steps below the root of the package.
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
