import { describeHalt } from '../../src/words/halt.ts';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect } from 'vitest';
import { parseConfig } from '../../src/config/load-config.ts';
import { readPattern } from '../../src/config/values.ts';
import { compilePattern } from '../../src/domain/pattern.ts';
import { findSource, IGNORE_FILE } from '../../src/sync/sources/source.ts';
import { expectPresentable, fuzz, pieces, wordsOf } from './edge.ts';

const GLOB_WORDS = [
  ...wordsOf('* ** *** ? / ! !( @( +( ?( *( ( ) | { } , .. .'),
  '\\',
  ...wordsOf('[ ] [^ [! [:alpha:] [[:digit:]] [a-z] [z-a] - ^ {1..9} {a..z..2} {9..1}'),
  '$',
  ...wordsOf('a b aa ab # ~ é 🙂 (?<n> (?='),
  ' ',
  '\0',
  '\n',
  'e\u0301',
  '\ud800',
  '\\1',
  '\\k<n>',
];

/** Long runs of few letters make a pattern that backtracks show it. */
const path = fc.oneof(
  pieces(['a', 'b', 'aaaaaaaaaaaaaaaa', 'ababababab', '/', '.', '-', ' '], 12),
  pieces(['a', '/', '.b', '!', '[', '\\', '\n', 'é', 'e\u0301', '🙂', '{', '(', '*'], 8),
);

fuzz({
  name: 'rule-glob',
  inputs: fc.record({ pattern: pieces(GLOB_WORDS, 16), paths: fc.array(path, { maxLength: 4 }) }),
  check: ({ pattern, paths }) => {
    const reading = readPattern(pattern);
    if (reading.kind === 'problem') {
      expectPresentable(reading.message);
      return;
    }
    const matches = compilePattern(reading.value);
    for (const one of paths) expect(matches(one)).toBe(matches(one));
  },
});

const IGNORE_WORDS = [
  ...wordsOf('* ** ? / ! # [ ] [a-z] [z-a] [^ [! - ( ) | { } + ^'),
  '\\',
  ...wordsOf('a b aa . .. ./ ../ **/ /**'),
  '\n',
  '\r\n',
  '\r',
  '\t',
  ' ',
  '\ufeff',
  '\0',
  '$',
  '\\ ',
  '\\\\',
  ...wordsOf('é 🙂 [:alpha:] (?<n> (?=a !.env !*.tmp'),
  'e\u0301',
  '\ud800',
  '\\1',
  '\\d',
];

const root = mkdtempSync(join(tmpdir(), 'botsync-fuzz-'));
afterAll(() => {
  rmSync(root, { recursive: true });
});

const loaded = parseConfig(
  JSON.stringify({ platform: { botId: 'b' }, sources: [{ name: 'docs', directory: root }] }),
  join(root, 'botsync.config.json'),
);
if (loaded.kind === 'invalid') throw new Error('the configuration of this test is not valid');
const { config } = loaded;

/** A path as a scan meets it: no empty part, none of dots alone, no NUL. */
const scannedPath = path
  .map((text) =>
    text
      .replaceAll('\0', '')
      .split('/')
      .filter((part) => !/^\.{0,2}$/u.test(part))
      .join('/'),
  )
  .filter((text) => text !== '');

fuzz({
  name: 'ignore-file',
  inputs: fc.record({
    base64: fc
      .oneof(
        pieces(IGNORE_WORDS, 24).map((text) => Buffer.from(text)),
        fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)),
      )
      .map((bytes) => bytes.toString('base64')),
    paths: fc.array(scannedPath, { maxLength: 4 }),
  }),
  check: ({ base64, paths }) => {
    writeFileSync(join(root, IGNORE_FILE), Buffer.from(base64, 'base64'));
    const found = findSource(config, sourceOf(config), 0, 'https://platform');
    if (found.kind === 'missing') throw new Error(describeHalt(found.halt));
    const { filter } = found.source;
    for (const one of paths) {
      const isIgnored = filter.ignoresFile(one);
      const why = filter.whyIgnored(one);
      expect(why !== null).toBe(isIgnored);
    }
  },
});

function sourceOf({ sources: [source] }: typeof config): (typeof config.sources)[number] {
  if (source === undefined) throw new Error('there is no source');
  return source;
}
