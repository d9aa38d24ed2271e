import { expect, test } from 'vitest';
import { databaseWords } from '../../src/cluster/postgres/database-words.ts';

const AT = { host: 'db.example.com', port: 6432 };

test('what the database or the connection says names the host and the port, once', () => {
  for (const [said, where, words] of [
    ['Query read timeout', AT, 'Query read timeout (db.example.com:6432)'],
    ['read ECONNRESET', { host: 'db.example.com' }, 'read ECONNRESET (db.example.com:5432)'],
    ['connect ECONNREFUSED 127.0.0.1:9', { host: '127.0.0.1', port: 9 }, 'connect ECONNREFUSED 127.0.0.1:9'],
    ['connect ECONNREFUSED ::1:9', { host: '::1', port: 9 }, 'connect ECONNREFUSED ::1:9'],
    ['the server ended', { host: '/run/pg' }, 'the server ended (/run/pg/.s.PGSQL.5432)'],
  ] as const)
    expect(databaseWords(said, where)).toBe(words);
});

test('it is one line of bearable length that commands no terminal', () => {
  expect(databaseWords('relation "a\u001b[31m\u202e" is\n\n  not there\r\n', AT)).toBe(
    'relation "a\\u001b[31m\\u202e" is not there (db.example.com:6432)',
  );
  const long = databaseWords(`${'a'.repeat(299)}😀${'b'.repeat(5000)}`, AT);
  expect(long).toBe(`${'a'.repeat(299)}… (db.example.com:6432)`);
});
