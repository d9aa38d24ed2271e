import { expect, test } from 'vitest';
import { keyOrder } from '../../src/emulator/key-order.ts';
import { call, start, upsert, upsertHeaders } from './fixture.ts';

// Each of these stands elsewhere by its bytes.
const KEYS = [
  'docs/a.md',
  'docs/B.md',
  'Docs/a.md',
  'docs/ä.md',
  'docs/az.md',
  'docs-old/a.md',
  'docs_old/a.md',
  'docs.md',
  'docs/10.md',
  'docs/9.md',
  'docs/Z.md',
  'docs/é.md',
  'docs/e.md',
  'docs/É.md',
  'docs',
];

const byBytes = (left: string, right: string): number =>
  Buffer.compare(Buffer.from(left), Buffer.from(right));

test('keys stand in the order of the Unicode collation', () => {
  const expected = KEYS.toSorted(new Intl.Collator('en').compare);
  expect(expected).not.toEqual(KEYS.toSorted(byBytes));
  expect(KEYS.toSorted((left, right) => byBytes(keyOrder(left), keyOrder(right)))).toEqual(expected);
});

test.each(['asc', 'desc'])('a list by key has that order over its pages: %s', async (direction) => {
  const { emulator } = await start();
  for (const key of KEYS) await upsert(emulator, { key, size: 0 });
  const listed: string[] = [];
  let next: string | undefined = '';
  while (next !== undefined) {
    const token: string = next === '' ? '' : `&nextToken=${encodeURIComponent(next)}`;
    const url = `${emulator.baseUrl}/v1/files?sortField=key&sortDirection=${direction}&pageSize=4${token}`;
    const { body } = await call(url, 'GET', upsertHeaders(emulator));
    const page = body as { files: { key: string }[]; meta: { nextToken?: string } };
    listed.push(...page.files.map(({ key }) => key));
    next = page.meta.nextToken;
  }
  const sorted = KEYS.toSorted(new Intl.Collator('en').compare);
  expect(listed).toEqual(direction === 'asc' ? sorted : sorted.toReversed());
});
