import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { connectionOf } from '../../src/cluster/postgres/connection.ts';
import { ClusterDatabase } from '../../src/cluster/postgres/database.ts';
import { makeTemporaryDirectory } from '../temporary-directory.ts';
import { TRUSTED_CERTIFICATE_FILE } from '../tls/identity.ts';

test('an address without a host means the socket, as for PostgreSQL, also with a user, a password or a port', () => {
  const socket = { host: '/var/run/postgresql', database: 'botsync', ssl: false };
  for (const [address, more] of [
    ['postgresql:///botsync', {}],
    ['postgresql://bot@/botsync', { user: 'bot' }],
    ['postgres://bot:p%40ss@/botsync', { user: 'bot', password: 'p@ss' }],
    ['postgresql://bot@:5433/botsync', { user: 'bot', port: 5433 }],
    ['postgresql://:5433/botsync', { port: 5433 }],
  ] as const)
    expect(connectionOf(address, 'name'), address).toEqual({
      kind: 'ok',
      config: { ...socket, ...more, application_name: 'name' },
    });
  expect(connectionOf('postgresql://bot@/botsync?host=/run/other', 'name')).toMatchObject({
    config: { host: '/run/other', ssl: false },
  });
  expect(connectionOf('postgresql://bot@db.example.com/botsync', 'name')).toMatchObject({
    config: { host: 'db.example.com', ssl: { rejectUnauthorized: true } },
  });
});

test('an address of this machine is encrypted where a parameter asks for it', () => {
  const sslOf = (parameters: string): unknown => {
    const connection = connectionOf(`postgresql://bot@localhost/botsync?${parameters}`, 'name');
    return connection.kind === 'ok' ? connection.config.ssl : connection.message;
  };
  const pem = readFileSync(TRUSTED_CERTIFICATE_FILE, 'utf8');
  const encrypted = { rejectUnauthorized: true };
  expect(sslOf('')).toBe(false);
  expect(sslOf('sslmode=disable')).toBe(false);
  expect(sslOf('sslmode=verify-full')).toEqual(encrypted);
  expect(sslOf(`sslrootcert=${TRUSTED_CERTIFICATE_FILE}`)).toEqual({ ...encrypted, ca: pem });
  expect(sslOf(`sslcert=${TRUSTED_CERTIFICATE_FILE}`)).toEqual({ ...encrypted, cert: pem });
  expect(sslOf(`sslkey=${TRUSTED_CERTIFICATE_FILE}`)).toEqual({ ...encrypted, key: pem });
});

test('an address without a database, or of something else, is refused without a word of it', () => {
  for (const address of [
    'postgresql://bot:secret@',
    'postgresql://bot:secret@/',
    'mysql://bot:secret@/x',
    'bot:secret',
    // A password with a "/" that is not encoded.
    'postgresql://bot:1/secret@db.example.com/botsync',
    'postgresql://bot:1#secret@db.example.com/botsync',
    'postgresql://bot:1?secret@db.example.com/botsync',
  ])
    expect(connectionOf(address, 'name'), address).toMatchObject({
      kind: 'problem',
      message: expect.not.stringContaining('secret') as string,
    });
});

test('a server that ends the connection at once is out of reach, however the system says so', async () => {
  const directory = makeTemporaryDirectory('socket');
  const server = createServer((socket) => socket.destroy());
  server.listen(join(directory, '.s.PGSQL.5432'));
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
  });
  const connection = connectionOf(`postgresql://x@/x?host=${directory}`, 'test');
  if (connection.kind !== 'ok') throw new Error(connection.message);
  const settings = { connection: connection.config, patienceMs: 10_000, connections: 1 };
  const database = new ClusterDatabase(settings);
  onTestFinished(() => database.close());
  // On a socket it is EPIPE, which looks like a code of PostgreSQL, unless the end is noticed first.
  for (let attempt = 1; attempt <= 20; attempt += 1) {
    const sentence = 'SELECT 1';
    await expect(database.sql(sentence)).rejects.toMatchObject({
      name: 'DatabaseError',
      kind: 'unreachable',
    });
  }
});
