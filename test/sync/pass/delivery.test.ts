import { expect, test } from 'vitest';
import type { Delivery } from '../../../src/domain/notice.ts';
import { createWorld } from '../world.ts';

const DAY = 86_400_000;
const PUBLIC = { match: '*.mp3', accessPolicies: ['public_content'] };

test('new content is told of, with its address when everybody may read it; nothing else that is sent is', async () => {
  const world = await createWorld({ rules: [PUBLIC] });
  const told: Delivery[] = [];
  const pass = async (isForced = false): Promise<string[]> => {
    told.length = 0;
    await world.pass({ onDelivery: (delivery) => told.push(delivery), isForced: () => isForced });
    return told.map(({ path }) => path).sort();
  };
  world.write('docs/a.mp3', 'one');
  world.write('docs/b.md', 'one');
  expect(await pass()).toEqual(['a.mp3', 'b.md']);
  const sound = told.find(({ path }) => path === 'a.mp3');
  expect(sound).toMatchObject({ source: 'docs', key: 'a.mp3', isPublic: true });
  expect(await (await fetch(String(sound?.publicUrl))).text()).toBe('one');
  // The address of what is not public holds a signature.
  expect(told.find(({ path }) => path === 'b.md')).toMatchObject({ isPublic: false, publicUrl: null });
  expect(await pass()).toEqual([]);
  expect(await pass(true)).toEqual([]);
  world.configure({ rules: [PUBLIC, { match: '**', expiresIn: '10d' }] });
  expect(await pass()).toEqual([]);
  world.clock.advance(9 * DAY);
  expect(await pass()).toEqual([]);
  world.write('docs/a.mp3', 'another');
  expect(await pass()).toEqual(['a.mp3']);
});

test('content that got there at the second attempt is told of', async () => {
  const world = await createWorld({ upload: { attempts: 1 } });
  const told: string[] = [];
  const onDelivery = ({ path }: Delivery): unknown => told.push(path);
  world.write('docs/a.md', 'one');
  world.fail('upload', 403);
  await world.pass({ onDelivery });
  expect(told).toEqual([]);
  await world.pass({ onDelivery });
  expect(told).toEqual(['a.md']);
});
