import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { resolveSecret } from '../../src/config/secrets.ts';
import { temporaryDirectory, temporaryFifo, temporaryFile } from './fixture.ts';

test.each([
  [{ T: 'abc' }, { kind: 'ok', value: 'abc', warnings: [] }],
  [{ T: 'abc\r\n' }, { kind: 'ok', value: 'abc', warnings: [] }],
  [
    {},
    {
      kind: 'problem',
      message: expect.stringMatching(
        /^the environment variable T is not set; set it .*export T=…/u,
      ) as unknown,
    },
  ],
  [
    { T: '' },
    {
      kind: 'problem',
      message: expect.stringMatching(/^the environment variable T is empty; set it/u) as unknown,
    },
  ],
  [
    { T: '\n' },
    { kind: 'problem', message: expect.stringMatching(/^the environment variable T is empty/u) as unknown },
  ],
  [
    { T: '<your token>' },
    { kind: 'problem', message: expect.stringMatching(/still contains a placeholder/u) as unknown },
  ],
])('from the environment %j', (env, result) => {
  expect(resolveSecret({ kind: 'env', name: 'T' }, env)).toEqual(result);
});

test.each(['s3cr et', 's3cret\nx: y', ' s3cret', 's3cret\t', 's3cret\u0000', 's3crét', 'Bearer s3cret'])(
  'one that would break a header is refused and not told: %j',
  (value) => {
    const result = resolveSecret({ kind: 'env', name: 'T' }, { T: value });
    expect(result).toMatchObject({ kind: 'problem' });
    expect(JSON.stringify(result)).not.toMatch(/s3cr/u);
  },
);

test.each([
  [0o600, null],
  [0o400, null],
  [0o640, 'read'],
  [0o604, 'read'],
  [0o620, 'write to'],
])('from a file with mode %o', (mode, others) => {
  const path = temporaryFile('the token', 'abc\n');
  chmodSync(path, mode);
  const warning = `others can ${others ?? ''} ${path} (mode 0${mode.toString(8)}); run: chmod 600 '${path}'`;
  expect(resolveSecret({ kind: 'file', path }, {})).toEqual({
    kind: 'ok',
    value: 'abc',
    warnings: others === null ? [] : [warning],
  });
});

test.each([
  ['a missing file', () => join(temporaryDirectory(), 'x'), /x does not exist; write the secret into it/u],
  ['a directory', () => temporaryDirectory(), /is a directory; name the file/u],
  ['a FIFO, which is not waited for,', () => temporaryFifo(), /is not a regular file; name the file/u],
  ['an empty file', () => temporaryFile('t', '\n'), /t is empty; it must contain the secret/u],
  ['a large file', () => temporaryFile('t', 'x'.repeat(70_000)), /t is too large for a secret/u],
])('%s is a problem', (_name, create, message) => {
  expect(resolveSecret({ kind: 'file', path: create() }, {})).toEqual({
    kind: 'problem',
    message: expect.stringMatching(message) as unknown,
  });
});

test.skipIf(process.getuid?.() === 0)('a file that must not be read is a problem', () => {
  const path = temporaryFile('t', 'abc', 0o000);
  expect(resolveSecret({ kind: 'file', path }, {})).toMatchObject({
    message: expect.stringMatching(/cannot be read/u) as unknown,
  });
});

test('a credential comes from the directory that systemd gives, whatever its mode', () => {
  const directory = temporaryDirectory();
  writeFileSync(join(directory, 'token'), 'abc', { mode: 0o644 });
  const env = { CREDENTIALS_DIRECTORY: directory };
  expect(resolveSecret({ kind: 'credential', name: 'token' }, env)).toEqual({
    kind: 'ok',
    value: 'abc',
    warnings: [],
  });
  expect(resolveSecret({ kind: 'credential', name: 'other' }, env)).toMatchObject({
    message: expect.stringMatching(
      /other does not exist; the unit needs LoadCredential=other:PATH$/u,
    ) as unknown,
  });
  expect(resolveSecret({ kind: 'credential', name: 'token' }, {})).toMatchObject({
    message: expect.stringMatching(/^credential token: \$CREDENTIALS_DIRECTORY is not set; /u) as unknown,
  });
});
