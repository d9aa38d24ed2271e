import { Client } from '@botpress/client';
import { expect, test } from 'vitest';
import { createVerifyWorld } from '../sync/verify-world.ts';

test('the official client sees the same as a verification', async () => {
  const world = await createVerifyWorld();
  const names = ['deleted.md', 'overwritten.md', 'tagged.md', 'same.md', 'ä.md'];
  for (const name of names) world.write(`docs/${name}`, `content of ${name}`);
  await world.pass();
  world.clock.advance(3_600_000);
  const { baseUrl: apiUrl, token } = world.emulator;
  const client = new Client({ apiUrl, token, botId: 'bot-1' });
  const sent = new Map<string, unknown>();
  for await (const { key, size, accessPolicies, metadata } of client.list.files({}))
    sent.set(key, { size, accessPolicies, metadata });
  expect([...sent.keys()].sort()).toEqual(names.toSorted());
  expect((await world.verify()).reasons).toEqual([]);

  await client.deleteFile({ id: 'deleted.md' });
  await client.uploadFile({ key: 'overwritten.md', content: 'theirs' });
  const { file } = await client.getFile({ id: 'tagged.md' });
  await client.updateFileMetadata({ id: file.id, accessPolicies: ['integrations'] });
  await client.uploadFile({ key: 'theirs.md', content: 'theirs' });

  const seen = new Map<string, unknown>();
  for await (const { key, size, accessPolicies, metadata } of client.list.files({}))
    seen.set(key, { size, accessPolicies, metadata });
  const changed = names.filter((name) => JSON.stringify(seen.get(name)) !== JSON.stringify(sent.get(name)));
  const { differences, verified } = await world.verify();
  expect(differences.map(({ key }) => key).sort()).toEqual(changed.toSorted());
  expect(verified).toMatchObject({
    same: names.length - changed.length,
    foreign: seen.size - names.length + 1,
  });
});
