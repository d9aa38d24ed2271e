import { chmodSync, chownSync, lchownSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { findConfig, guessStateFiles } from '../../src/config/find-config.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { renderProblem } from '../../src/config/problem.ts';
import { temporaryDirectory } from './fixture.ts';

const ME = process.getuid?.() ?? null;

/** Whatever this machine has installed. */
const NOWHERE = '/nowhere/botsync.config.json';

/** A directory `a/b/` in a new one, and the files there; the path of the new one. */
function place(...files: readonly string[]): string {
  const root = temporaryDirectory();
  mkdirSync(join(root, 'a/b'), { recursive: true });
  for (const file of files) writeFileSync(join(root, file), '{');
  return root;
}

test.each([
  [['a/b/botsync.config.json', 'a/botsync.config.json'], 'botsync.config.json', true],
  [['a/b/botsync.config.jsonc', 'botsync.config.json'], 'botsync.config.jsonc', true],
  [['a/botsync.config.jsonc', 'botsync.config.json'], '../botsync.config.jsonc', false],
  [['botsync.config.json', 'a/config.json'], '../../botsync.config.json', false],
])('of %j the nearest is taken', (files, file, isHere) => {
  expect(findConfig(join(place(...files), 'a/b'), ME)).toEqual({ kind: 'found', file, isHere });
});

test('two in one directory, and none at all', () => {
  const root = place('a/botsync.config.json', 'a/botsync.config.jsonc', 'a/b/botsync.config.yaml');
  expect(findConfig(join(root, 'a/b'), ME)).toEqual({ kind: 'ambiguous', directory: join(root, 'a') });
  expect(findConfig(root, ME, NOWHERE)).toEqual({ kind: 'none' });
});

test('a directory of that name above is none, in the place itself it is told', () => {
  const root = place();
  mkdirSync(join(root, 'a/botsync.config.json'));
  expect(findConfig(join(root, 'a/b'), ME, NOWHERE)).toEqual({ kind: 'none' });
  expect(findConfig(join(root, 'a'), ME)).toMatchObject({ kind: 'found', isHere: true });
});

test('one above that belongs to another user is not taken, one that is named or here is', () => {
  const root = place('a/botsync.config.json');
  const file = join(root, 'a/botsync.config.json');
  // What belongs to root is trusted, so that the tests of root need another owner.
  if (ME === 0) chownSync(file, 4321, 4321);
  const other = statSync(file).uid + 1;
  expect(findConfig(join(root, 'a/b'), other)).toEqual({ kind: 'foreign', file });
  expect(findConfig(join(root, 'a'), other)).toMatchObject({ kind: 'found' });
  expect(findConfig(join(root, 'a/b'), other - 1)).toMatchObject({ kind: 'found' });
  expect(findConfig(join(root, 'a/b'), null)).toMatchObject({ kind: 'found' });
});

// Only root can give a link to another user.
test.runIf(ME === 0)('a link above that another user made is not taken, whatever it leads to', () => {
  const root = place('a/b/mine.json');
  const link = join(root, 'a/botsync.config.json');
  symlinkSync(join(root, 'a/b/mine.json'), link);
  expect(findConfig(join(root, 'a/b'), ME)).toMatchObject({ kind: 'found', isHere: false });
  lchownSync(link, 4321, 4321);
  expect(findConfig(join(root, 'a/b'), ME)).toEqual({ kind: 'foreign', file: link });
});

test('where there is none, that of the service is taken if this user may read it', () => {
  const root = place('a/botsync.config.json', 'service.json');
  const service = join(root, 'service.json');
  const found = { kind: 'found', file: service, isHere: false };
  expect(findConfig(root, ME, service)).toEqual(found);
  expect(findConfig(join(root, 'a/b'), ME, service)).toMatchObject({ file: '../botsync.config.json' });
  for (const file of [join(root, 'none.json'), join(root, 'none/none.json'), join(root, 'a')])
    expect(findConfig(root, ME, file)).toEqual({ kind: 'none' });
  if (ME === 0) chownSync(service, 4321, 4321);
  expect(findConfig(root, statSync(service).uid + 1, service)).toEqual({ kind: 'foreign', file: service });
});

/** Calls a function as a user who is not root and owns nothing. */
function asOther<T>(call: () => T): T {
  if (ME !== 0) return call();
  process.seteuid?.(65_534);
  try {
    return call();
  } finally {
    process.seteuid?.(0);
  }
}

test.each(['a/service.json', 'a'])('that of the service with %s out of reach is told', (locked) => {
  const root = place('a/service.json');
  const file = join(root, 'a/service.json');
  chmodSync(root, 0o755);
  expect(asOther(() => findConfig('/', ME, file))).toMatchObject({ kind: 'found', file });
  chmodSync(join(root, locked), 0);
  onTestFinished(() => {
    chmodSync(join(root, locked), 0o700);
  });
  expect(asOther(() => findConfig('/', ME, file))).toEqual({ kind: 'unreadable', file });
});

const told = (file: string): string => {
  const result = loadConfig(file);
  return result.kind === 'invalid' ? result.problems.map(renderProblem).join('\n') : 'ok';
};

test('of a file that is not there, what is beside it is told', () => {
  const root = place('a/botsync.config.yaml', 'a/other.jsonc', 'a/b/botsync.config.json');
  expect(told(join(root, 'a/botsync.config.json'))).toMatch(
    /file not found, and botsync does not read YAML \(botsync\.config\.yaml\); write the configuration as JSON/u,
  );
  expect(told(join(root, 'a/other.json'))).toMatch(/did you mean .*\/a\/other\.jsonc\?$/u);
  expect(told(join(root, 'a/none.json'))).toMatch(/file not found; name the configuration with --config/u);
  expect(told(join(root, 'a/b'))).toBe(
    `${root}/a/b: is a directory; name the file in it: ${root}/a/b/botsync.config.json`,
  );
  expect(told(join(root, 'a'))).toMatch(/is a directory without a botsync\.config\.json; name the/u);
});

test.each([
  ['a value is missing', '{ "sources": [,{ }], "stateFile": "s.db" }', ['s.db']],
  ['a comma is missing', '{ "sources": [] "stateFile":\n"s.db" }', ['s.db']],
  ['a string is not closed', '{ "platform": { "botId": "b },\n "stateFile": "s.db" }', ['s.db']],
  ['its own string is not closed', '{ "stateFile": "s.db\n}', []],
  ['it ends too early', '{ "stateFile": "s.db", "sources": [', ['s.db']],
  ['another is commented out', '{ // "stateFile": "old.db"\n "stateFile": "s.db"', ['old.db', 's.db']],
  ['it is escaped', '{ "stateFile": "a\\"\\u0062.db", }}', ['a"b.db']],
  ['its escape is unknown', '{ "stateFile": "\\q.db" }', []],
  ['it is no name', '{ "stateFile": 7 }', []],
  ['it is empty', '', []],
])('a configuration that cannot be loaded names its state file: %s', (_case, text, expected) => {
  const directory = temporaryDirectory();
  const file = join(directory, 'botsync.config.json');
  writeFileSync(file, text);
  expect(guessStateFiles(file)).toEqual(
    [...expected, '.botsync/state.db'].map((name) => join(directory, name)),
  );
});

test('a configuration that is not there has the usual one', () => {
  expect(guessStateFiles('/nowhere/b.json')).toEqual(['/nowhere/.botsync/state.db']);
});
