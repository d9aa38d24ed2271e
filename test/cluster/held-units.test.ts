import { afterAll, beforeAll, expect, test } from 'vitest';
import { Clockwork } from './clockwork.ts';
import { startPostgres, type PostgresServer } from './postgres.ts';

let server: PostgresServer;

beforeAll(async () => {
  server = await startPostgres();
});

afterAll(async () => {
  await server.close();
});

/** Part of the statement that takes a unit. */
const CLAIM = 'greatest(epoch, $1) + 1';

test.each(['stop', 'breakOff'] as const)(
  'a host that is told to end (%s) while it takes a unit does not go on to work on it',
  async (how) => {
    const world = await Clockwork.create(server);
    const host = world.begin('web1');
    host.asks = (text) => {
      if (text.includes(CLAIM)) host[how]();
      return Promise.resolve();
    };
    await world.until(() => host.end !== null, 'it ends');
    expect(host.log).toContain('docs is synced by this host now');
    expect(await world.hosts.sql('SELECT epoch::integer, holder IS NULL AS free FROM botsync.unit')).toEqual([
      { epoch: 1, free: how === 'stop' },
    ]);
  },
);
