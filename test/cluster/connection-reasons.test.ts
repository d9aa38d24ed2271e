import { expect, test } from 'vitest';
import { connectionOf } from '../../src/cluster/postgres/connection.ts';

const FORM = 'write it as postgresql://USER:PASSWORD@HOST:PORT/DATABASE';
const NO_PORT = 'has a port that does not exist; write a number up to 65535';
const SEVERAL = 'names several hosts; name one, such as that of a proxy which finds the primary';
const PARAMETERS = 'it takes host, port, sslmode, sslrootcert, sslcert, sslkey';

test('an address that cannot be used is answered with the reason and the fix', () => {
  for (const [address, message] of [
    ['mysql://bot:secret@db.example.com/botsync', `is not an address of PostgreSQL; ${FORM}`],
    ['postgresql://bot:secret@db example/botsync', `is not an address of PostgreSQL; ${FORM}`],
    ['postgresql://bot:secret@db.example.com', `names no database; ${FORM}`],
    ['postgresql://bot:sec/ret@db.example.com/botsync', 'has a "/" in its user or password; write it as %2F'],
    ['postgresql://bot:1/ret@db.example.com/botsync', 'has a "/" in its user or password; write it as %2F'],
    ['postgresql://bot:sec?ret@db.example.com/botsync', 'has a "?" in its user or password; write it as %3F'],
    [
      'postgresql://bot:sec#ret@db.example.com/botsync',
      'has a "#" in its user, its password or elsewhere; write it as %23',
    ],
    ['postgresql://bot:secret@db.example.com:99999/botsync', NO_PORT],
    ['postgresql://bot:secret@db.example.com:five/botsync', NO_PORT],
    ['postgresql://bot:secret@/botsync?port=0', NO_PORT],
    ['postgresql://bot:secret@one:5432,two:5432/botsync', SEVERAL],
    ['postgresql://bot:secret@one,two/botsync', SEVERAL],
    ['postgresql://bot:secret@/botsync?host=one,two', SEVERAL],
    [
      'postgresql://bot:secret@db.example.com/botsync?foo=bar',
      `has the parameter "foo" that botsync does not take; remove it; ${PARAMETERS}`,
    ],
    [
      'postgresql://bot:p@x/y?secret@db.example.com/botsync',
      `has a parameter that botsync does not take; remove it; ${PARAMETERS}`,
    ],
    [
      'postgresql://db.example.com/botsync?sslmode=full',
      'asks for an sslmode that PostgreSQL does not have; remove it, or write verify-full',
    ],
    [
      'postgresql://localhost/botsync?sslmode=require',
      'asks for sslmode=require, which does not check the server; remove it, or write verify-full',
    ],
    [
      'postgresql:///botsync?sslmode=verify-full',
      'asks for encryption on a socket, which has none; remove its parameters that begin with "ssl"',
    ],
    [
      'postgresql://localhost/botsync?sslrootcert=/nowhere/ca.pem',
      'names /nowhere/ca.pem, which cannot be read: ENOENT',
    ],
  ])
    expect(connectionOf(address as string, 'name'), address).toEqual({ kind: 'problem', message });
});

test('an IPv6 address and the parameters that an address may have are taken', () => {
  expect(connectionOf('postgresql://bot:p%23%2F@[::1]:5433/botsync?sslmode=disable', 'name')).toMatchObject({
    config: { host: '::1', port: 5433, password: 'p#/', ssl: false },
  });
  expect(connectionOf('postgresql://bot@[::1]/botsync', 'name')).toMatchObject({ config: { host: '::1' } });
});
