import { describe, expect, test } from 'vitest';
import type { Emulator } from '../../src/emulator/emulator.ts';
import { ask, pathOf } from './file-client.ts';
import { errorBody, start, store } from './fixture.ts';

const GUIDE = `# Bikes

Every bike has a bell.

## Repair

Oil the chain.
Twice a year.

- pump
- bell

\`\`\`
ring the bell
\`\`\`
`;

interface Answer {
  readonly passages: readonly {
    readonly id?: string;
    readonly content: string;
    readonly score: number;
    readonly meta: Readonly<Record<string, unknown>>;
    readonly file: Readonly<Record<string, unknown>>;
  }[];
  readonly meta: { readonly nextToken?: string };
}

async function search(emulator: Emulator, query: string): Promise<Answer['passages']> {
  const { status, body } = await ask(emulator, 'GET', `/v1/files/search?${query}`);
  expect(status).toBe(200);
  return (body as Answer).passages;
}

async function passages(emulator: Emulator, name: string, query = ''): Promise<Answer> {
  const { status, body } = await ask(emulator, 'GET', pathOf(name, `/passages${query}`));
  expect(status).toBe(200);
  return body as Answer;
}

describe('a search', () => {
  test('finds passages of files that are indexed by now, the best first', async () => {
    const { emulator, clock } = await start({ indexingDelayMs: 1000 });
    const said = { tags: { kind: 'guide' }, metadata: { pages: 7 } };
    const { id } = await store(emulator, 'guide.md', GUIDE, { index: true, ...said });
    await store(emulator, 'not-indexed.md', 'bell chain');
    await store(emulator, 'failed.png', 'bell chain', { index: true });
    expect(await search(emulator, 'query=bell')).toEqual([]);
    clock.now += 1000;
    const found = await search(emulator, 'query=the+CHAIN');
    expect(found.map(({ content, score }) => [content, score])).toEqual([
      ['Oil the chain.\nTwice a year.', 1],
      ['```\nring the bell\n```', 0.5],
    ]);
    expect(found[0]).toMatchObject({
      meta: { type: 'chunk', position: 3 },
      file: { id, key: 'guide.md', contentType: 'text/markdown', ...said },
    });
  });

  test.each(['', 'query=', 'query=a&limit=0', 'query=a&consolidate=yes', 'query=a&more=1'])(
    'is refused with "%s"',
    async (query) => {
      const { emulator } = await start();
      expect(await ask(emulator, 'GET', `/v1/files/search?${query}`)).toMatchObject({
        body: errorBody(400, 'InvalidQuery'),
      });
    },
  );
});

describe('the passages of a file', () => {
  test('are its paragraphs in their order, page by page', async () => {
    const { emulator } = await start();
    const { id } = await store(emulator, 'guide.md', GUIDE, { index: true });
    const all = await passages(emulator, id);
    expect(all.passages.map(({ content }) => content).join('\n\n')).toBe(GUIDE.trim());
    expect(new Set(all.passages.map((one) => one.id)).size).toBe(6);
    expect(all.meta).toEqual({});
    const first = await passages(emulator, id, '?pageSize=4');
    const token = encodeURIComponent(first.meta.nextToken ?? '');
    const second = await passages(emulator, id, `?pageSize=4&nextToken=${token}`);
    expect([...first.passages, ...second.passages]).toEqual(all.passages);
    expect((await passages(emulator, id, '?limit=5&pageSize=100')).passages).toEqual(
      all.passages.slice(0, 5),
    );
  });
});
