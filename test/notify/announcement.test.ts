import { expect, test } from 'vitest';
import type { Delivery } from '../../src/domain/notice.ts';
import { judgeDelivery } from '../../src/notify/announcements.ts';

const DELIVERY: Delivery = {
  source: 'docs',
  path: 'a.mp3',
  key: 'a.mp3',
  target: 1,
  sha256: Buffer.alloc(32),
  isPublic: true,
  publicUrl: 'https://x/a',
};

test.each<[Partial<Delivery>, object]>([
  [{}, { kind: 'announce', url: 'https://x/a' }],
  [{ path: 'a.wav' }, { kind: 'none' }],
  [{ path: 'a.wav', isPublic: false, publicUrl: null }, { kind: 'none' }],
  [
    { isPublic: false, publicUrl: null },
    { kind: 'warn', message: expect.stringContaining('public_content') as string },
  ],
  [{ publicUrl: null }, { kind: 'warn', message: expect.stringContaining('no address') as string }],
])('a delivery with %j', (some, verdict) => {
  expect(judgeDelivery({ ...DELIVERY, ...some }, (path) => path.endsWith('.mp3'))).toEqual(verdict);
});

test('patterns see the NFC form of a name', () => {
  const matches = (path: string): boolean => path === '\u00e9.mp3';
  expect(judgeDelivery({ ...DELIVERY, path: 'e\u0301.mp3' }, matches).kind).toBe('announce');
});
