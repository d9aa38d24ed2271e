import { describeHalt } from '../../../src/words/halt.ts';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseConfig } from '../../../src/config/load-config.ts';
import { findSources } from '../../../src/sync/sources/source.ts';
import { makeTemporaryDirectory } from '../../temporary-directory.ts';

/** Why a second source with this directory is halted. */
function reasonFor(root: string, directory: string): string {
  const sources = [
    { directory: '.', name: 'all' },
    { directory, name: 'second' },
  ];
  const loaded = parseConfig(JSON.stringify({ platform: { botId: 'b' }, sources }), join(root, 'c.json'));
  if (loaded.kind === 'invalid') throw new Error('invalid');
  const found = findSources(loaded.config, 'platform')[1];
  return found?.kind === 'missing' ? describeHalt(found.halt) : 'found';
}

test.each([
  ['manual', 'manual does not exist (sources[1].directory; did you mean $/manuals?)'],
  ['Manuals/de', 'Manuals/de does not exist (sources[1].directory; did you mean $/manuals/de?)'],
  [
    'manuals/none/deeper',
    'manuals/none/deeper does not exist (sources[1].directory; the nearest directory that exists is $/manuals)',
  ],
  // A name that is like that of a file is no hint.
  ['reports', 'reports does not exist (sources[1].directory; the nearest directory that exists is $)'],
  [
    'report/2026',
    'report/2026 does not exist (sources[1].directory; the nearest directory that exists is $)',
  ],
  ['report', 'report is not a directory (sources[1].directory)'],
])('of a directory %s that is not there the nearest is told', (directory, reason) => {
  const root = makeTemporaryDirectory('sources');
  mkdirSync(join(root, 'manuals/de'), { recursive: true });
  writeFileSync(join(root, 'report'), 'a file');
  expect(reasonFor(root, directory)).toBe(`${root}/${reason.replace('$', root)}`);
});
