import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadConfig } from '../../src/config/load-config.ts';
import { renderProblem } from '../../src/config/problem.ts';
import { configText, expectOk, temporaryDirectory, temporaryFifo, temporaryFile } from './fixture.ts';

/** The only problem of a configuration file, which is called `c` in it. */
function only(file: string): string {
  const result = loadConfig(file);
  if (result.kind === 'ok') throw new Error('it was taken');
  expect(result.problems).toHaveLength(1);
  return result.problems.map(renderProblem).join('').replace(file, 'c');
}

test('a missing file', () => {
  expect(only(join(temporaryDirectory(), 'x.json'))).toMatch(/^c: file not found; name the config/u);
});

test('a directory', () => {
  expect(only(temporaryDirectory())).toBe(
    'c: is a directory without a botsync.config.json; name the configuration file itself',
  );
});

test.skipIf(process.getuid?.() === 0)('an unreadable file', () => {
  expect(only(temporaryFile('c.json', '{}', 0o000))).toMatch(/^c: cannot be read by this user/u);
});

test('a pipe, which is not waited for', () => {
  expect(only(temporaryFifo())).toBe('c: is not a regular file; write the configuration to one');
  expect(only('/dev/zero')).toMatch(/is not a regular file/u);
});

test('UTF-16', () => {
  expect(only(temporaryFile('c.json', Buffer.from('\ufeff{}', 'utf16le')))).toMatch(/^c: is UTF-16; /u);
});

test('what is no UTF-8', () => {
  expect(only(temporaryFile('c.json', Buffer.of(0x7b, 0xff)))).toBe('c: is not UTF-8; save it as UTF-8');
});

test('an empty file', () => {
  expect(only(temporaryFile('c.json', ''))).toMatch(/^c: is empty; /u);
});

test('a byte order mark is passed over and does not move columns', () => {
  expectOk(loadConfig(temporaryFile('c.json', `\ufeff${configText({})}`)));
  expect(only(temporaryFile('c.json', '\ufeff{'))).toMatch(/^c:1:2: /u);
});

test('comments and trailing commas', () => {
  const text = '{ // x\n "platform": { "botId": "b", }, /* y */ "sources": [{ "directory": "./d", },], }';
  expectOk(loadConfig(temporaryFile('c.json', text)));
});

test.each([
  [0o600, 0],
  [0o644, 0],
  [0o664, 1],
  [0o646, 1],
])('mode %o gives %i warnings', (mode, count) => {
  const file = temporaryFile('c.json', configText({}));
  chmodSync(file, mode);
  const { warnings } = expectOk(loadConfig(file));
  expect(warnings).toHaveLength(count);
  if (count > 0) expect(warnings.map(renderProblem).join('')).toContain(`mode 0${mode.toString(8)}`);
});

test('relative to the working directory, the file is found and its paths start beside it', () => {
  const directory = temporaryDirectory();
  mkdirSync(join(directory, 'sub'));
  writeFileSync(join(directory, 'sub', 'c.json'), configText({}));
  const { config } = expectOk(loadConfig(join(directory, 'sub', '..', 'sub', 'c.json')));
  expect(config.file).toBe(join(directory, 'sub', 'c.json'));
  expect(config.sources[0]?.directory).toBe(join(directory, 'sub', 'docs'));
});
