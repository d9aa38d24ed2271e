import { describe, expect, test } from 'vitest';
import type { Emulator } from '../../src/emulator/emulator.ts';
import { get } from './file-client.ts';
import { start, store, upload, upsert } from './fixture.ts';

const BOTS = [
  { id: 'b1', name: 'One' },
  { id: 'b2', name: 'Two' },
];

const USER = { 'x-user-id': 'user-1' };
const INTEGRATION = {
  'x-integration-id': 'int1',
  'x-integration-name': 'name1',
  'x-integration-alias': 'alias1',
};

async function world(): Promise<Emulator> {
  return (await start({ bots: BOTS })).emulator;
}

describe('the owner of a file', () => {
  test.each([
    ['the bot', {}, { type: 'bot', id: 'b1' }],
    ['a user', USER, { type: 'user', id: 'user-1' }],
    [
      'an integration',
      { ...USER, ...INTEGRATION },
      { type: 'integration', id: 'int1', name: 'name1', alias: 'alias1' },
    ],
  ])('is who created it: %s', async (_, headers, owner) => {
    const emulator = await world();
    expect((await upsert(emulator, { key: 'a.md', size: 1 }, headers)).owner).toMatchObject(owner);
  });

  test('stays when another overwrites it', async () => {
    const emulator = await world();
    await store(emulator, 'a.md', 'abc', { metadata: { mark: 1 } });
    const replaced = await upsert(emulator, { key: 'a.md', size: 3 }, USER);
    await upload(replaced, 'xyz');
    expect(await get(emulator, 'a.md')).toMatchObject({ owner: { type: 'bot', id: 'b1' }, metadata: {} });
  });
});
