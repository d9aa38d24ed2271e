import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { POLL } from '../cli/running-daemon.ts';
import { createHosts, type Hosts } from './hosts.ts';
import { startPostgres, type PostgresServer } from './postgres.ts';

let server: PostgresServer;

beforeAll(async () => {
  server = await startPostgres();
});

afterAll(async () => {
  await server.close();
});

const remote = (hosts: Hosts, key: string): string | null =>
  hosts.emulator.readContent('bot-1', key)?.toString() ?? null;

describe('two hosts on one share', () => {
  test('one works, and the other goes on when it is killed', async () => {
    const hosts = await createHosts(server);
    hosts.write('docs/a.md', 'first');
    const [one, other] = [hosts.host('web1').launch(), hosts.host('web2').launch()];
    await expect.poll(() => remote(hosts, 'a.md'), POLL).toBe('first');
    const holder = await hosts.holder();
    const [working, waiting] = holder === 'web1' ? [one, other] : [other, one];
    hosts.write('docs/a.md', 'second');
    await expect.poll(() => remote(hosts, 'a.md'), POLL).toBe('second');
    working.child.kill('SIGKILL');
    hosts.write('docs/b.md', 'third');
    await expect.poll(() => remote(hosts, 'b.md'), POLL).toBe('third');
    expect(await hosts.holder()).toBe(holder === 'web1' ? 'web2' : 'web1');
    waiting.child.kill('SIGTERM');
    const ended = await waiting.ended;
    expect({ code: ended.code, stderr: ended.stderr }).toMatchObject({ code: 0 });
    expect(await hosts.holder(), 'it let go of it').toBeNull();
  });
});
