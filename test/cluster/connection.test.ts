import { expect, test } from 'vitest';
import { connectionOf } from '../../src/cluster/connection.ts';

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
