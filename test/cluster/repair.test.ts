import { expect, test } from 'vitest';
import { PATIENCE } from './fault-world.ts';
import { launchHere } from './host-here.ts';
import { createHosts } from './hosts.ts';
import { serverOfFile } from './postgres.ts';

const server = await serverOfFile();

test('verify --repair compares, and has the hosts that hold the units repair what differs, whichever host is asked', async () => {
  const hosts = await createHosts(server);
  const { emulator } = hosts;
  const config = { verify: { every: null, repair: false } };
  for (const name of ['a.md', 'b.md']) hosts.write(`docs/${name}`, name);
  const running = [await launchHere(hosts, 'web1', { config }), await launchHere(hosts, 'web2', { config })];
  const other = hosts.host('web3', { config });
  await expect
    .poll(() => ['a.md', 'b.md'].map((key) => hosts.content(key)), PATIENCE)
    .toEqual(['a.md', 'b.md']);
  // The platform has confirmed both: else the service looks for what is lost by itself.
  const verified = async (): Promise<unknown> => (await other.run('verify', '--repair', '--json')).code;
  await expect.poll(verified, { ...PATIENCE, interval: 500 }).toBe(0);
  const lost = emulator.listFiles('bot-1').find(({ key }) => key === 'a.md');
  const headers = {
    authorization: `Bearer ${emulator.token}`,
    'x-bot-id': 'bot-1',
    'x-workspace-id': emulator.workspaceId,
  };
  const deleted = await fetch(`${emulator.baseUrl}/v1/files/${lost?.id ?? ''}`, {
    method: 'DELETE',
    headers,
  });
  expect(deleted.status).toBe(200);
  const holder = await hosts.holder();
  const { code, stdout, stderr } = await other.run('verify', '--repair');
  expect(code, stderr).toBe(3);
  expect(stdout).toContain('docs/a.md');
  expect(stderr).toContain(`${holder ?? ''} was asked to repair docs`);
  await expect.poll(() => hosts.content('a.md'), PATIENCE).toBe('a.md');
  expect((await other.run('verify', '--repair')).code).toBe(0);
  for (const { stop } of running) await stop();
  hosts.write('docs/c.md', 'c');
  const free = await other.run('verify', '--prune');
  expect(free).toMatchObject({ code: 2 });
});
