import { hostname } from 'node:os';
import { expect, test } from 'vitest';
import { changedBlocks } from '../../src/config/config.ts';
import { configText, linesOf, load } from './fixture.ts';
import { expectLines, source, type Row } from './problem-rows.ts';

const DATABASE = 'env:BOTSYNC_DATABASE';

/** Fields of a cluster whose host has a name. */
const cluster = (fields: object): Record<string, unknown> => ({
  cluster: { database: DATABASE, host: 'web1', ...fields },
});

test('fills in the defaults of a cluster; its host has the name of the machine', () => {
  const { config } = load({ cluster: { database: DATABASE } }, 'ip-10-0-0-7.ec2.internal');
  expect(config.cluster).toEqual({
    database: { kind: 'env', name: 'BOTSYNC_DATABASE' },
    schema: 'botsync',
    host: 'ip-10-0-0-7.ec2.internal',
    leaseMs: 10_000,
    suspectAfterMs: 1_200_000,
  });
  expect(load(cluster({ host: undefined })).config.cluster?.host).toBe(hostname());
});

test('takes over what the file says of a cluster', () => {
  const written = {
    database: 'file:secrets/database',
    schema: '_sync2',
    host: 'Branch_7.example-a',
    lease: '1m',
    suspectAfter: '1.5h',
  };
  const { config } = load({ cluster: written });
  expect(config.cluster).toEqual({
    database: { kind: 'file', path: '/etc/botsync/secrets/database' },
    schema: '_sync2',
    host: 'Branch_7.example-a',
    leaseMs: 60_000,
    suspectAfterMs: 5_400_000,
  });
});

test.each([
  { lease: '3s', suspectAfter: '1s' },
  { lease: '5m', suspectAfter: '24h' },
  { schema: 'a'.repeat(63), host: 'a'.repeat(63) },
  { schema: 'pgsync', host: '7' },
])('the limits of a cluster are allowed: %j', (fields) => {
  expect(linesOf(configText(cluster(fields)))).toEqual({ problems: [], warnings: [] });
});

const HOST_RULE =
  'a letter or a digit, then up to 62 letters, digits, dots, underscores and hyphens, such as "web1"';

const errors: readonly Row[] = [
  [{ cluster: {} }, 'cluster.database: is missing; write a string, for example "env:BOTSYNC_DATABASE"'],
  [{ cluster: null }, 'cluster: expected an object, found null'],
  [{ cluster: 'postgresql://db/botsync' }, 'cluster: expected an object, found a string'],
  [cluster({ zzz: 1 }), /^cluster\.zzz: unknown field; known fields: database, schema, host, lease, /u],
  [{ database: DATABASE }, 'database: unknown field; did you mean "cluster.database"?'],
  [
    cluster({ database: 'postgresql://db/botsync' }),
    'cluster.database: do not write a secret into this file; put it into an environment variable and write "env:BOTSYNC_DATABASE", or into a file and write "file:PATH" (with systemd "credential:NAME")',
  ],
  [
    cluster({ database: 'env:' }),
    'cluster.database: "env:" needs the name of an environment variable, such as "env:BOTSYNC_DATABASE"; never the secret itself',
  ],
  [
    cluster({ schema: 'BotSync' }),
    'cluster.schema: "BotSync" cannot be the name of a schema; write "botsync"',
  ],
  [
    cluster({ schema: 'shop.bot-sync' }),
    'cluster.schema: "shop.bot-sync" cannot be the name of a schema; write "shop_bot_sync"',
  ],
  ...['', '7shops', 'größe', 'a'.repeat(64), 'a"; --'].map((schema): Row => [
    cluster({ schema }),
    /^cluster\.schema: ".*" cannot be the name of a schema; write lower-case letters, digits and underscores, at most 63 and no digit first, such as "botsync"$/u,
  ]),
  ...['pg_botsync', 'information_schema'].map((schema): Row => [
    cluster({ schema }),
    `cluster.schema: "${schema}" is reserved by PostgreSQL; write another name, such as "botsync"`,
  ]),
  ...['', 'web 1', '-web1', '.', 'wéb', 'web1\n'].map((host): Row => [
    cluster({ host }),
    `cluster.host: ${JSON.stringify(host)} cannot be the name of a host; write ${HOST_RULE}`,
  ]),
  [cluster({ host: 'a'.repeat(64) }), /^cluster\.host: "a{60}…" cannot be the name of a host/u],
  [{ ...cluster({}), ...source({ host: 'web1' }) }, /^sources\[0\]\.host: unknown field; /u],
  [cluster({ weight: 1 }), /^cluster\.weight: unknown field; /u],
  [cluster({ lease: '2.9s' }), 'cluster.lease: "2900ms" is too short; write at least "3s"'],
  [cluster({ lease: '0s' }), 'cluster.lease: "0s" is zero; write at least "3s"'],
  [cluster({ suspectAfter: '0s' }), 'cluster.suspectAfter: "0s" is zero; write at least "1s"'],
  [cluster({ lease: '301s' }), 'cluster.lease: "301s" is too long; write at most "5m"'],
  [cluster({ lease: '1 hour' }), 'cluster.lease: "1 hour" is not a duration; write at most "5m"'],
  [cluster({ lease: 10 }), 'cluster.lease: expected a string, found 10; write it with a unit, such as "15m"'],
  [cluster({ suspectAfter: '999ms' }), 'cluster.suspectAfter: "999ms" is too short; write at least "1s"'],
  [cluster({ suspectAfter: '25h' }), 'cluster.suspectAfter: "25h" is too long; write at most "1d"'],
];

test.each(errors)('%j is refused', (fields, line) => {
  expectLines(linesOf(configText(fields), 'machine').problems, [line]);
});

test.each([
  [`web1.${'x'.repeat(63)}`, 'write "host": "web1"'],
  ['x'.repeat(64), `write ${HOST_RULE}`],
  ['-', `write ${HOST_RULE}`],
  ['', `write ${HOST_RULE}`],
])('a machine called %j needs a host in a cluster', (machine, fix) => {
  const { problems } = linesOf(configText(cluster({ host: undefined })), machine);
  const shown = machine.length > 60 ? `${machine.slice(0, 60)}…` : machine;
  expectLines(problems, [
    `cluster.host: is missing, and the host name of this machine, "${shown}", cannot be used instead; ${fix}`,
  ]);
  expect(linesOf(configText(cluster({})), machine).problems).toEqual([]);
  expect(linesOf(configText({}), machine).problems).toEqual([]);
});

test('a changed cluster is a block that changed', () => {
  const { config } = load(cluster({}));
  expect(changedBlocks(config, load(cluster({ lease: '10000ms' })).config)).toEqual([]);
  expect(changedBlocks(config, load(cluster({ lease: '11s' })).config)).toEqual(['cluster']);
});
