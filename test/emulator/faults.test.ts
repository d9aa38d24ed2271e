import { expect, describe, test } from 'vitest';
import { type Fault, Faults } from '../../src/emulator/faults.ts';
import { findFile, put, readText, send, start, store, upload, upsert } from './fixture.ts';

const body = { key: 'a.txt', size: 3 };

describe('which request a fault strikes', () => {
  test.each<[string, Fault[], (readonly [string, string | null])[], (string | null)[]]>([
    [
      'once by default',
      [{ operation: 'upsert', kind: 'drop' }],
      [
        ['upload', null],
        ['upsert', null],
        ['upsert', null],
      ],
      [null, 'drop', null],
    ],
    [
      'times and after',
      [{ operation: 'upsert', kind: 'drop', times: 2, after: 1 }],
      [
        ['upsert', null],
        ['upsert', null],
        ['upsert', null],
        ['upsert', null],
      ],
      [null, 'drop', 'drop', null],
    ],
    [
      'only the file of the key',
      [{ operation: 'upload', kind: 'drop', key: 'b' }],
      [
        ['upload', 'a'],
        ['upload', null],
        ['upload', 'b'],
      ],
      [null, null, 'drop'],
    ],
    [
      'one fault a request, in the order they were added',
      [
        { operation: 'upsert', kind: 'drop' },
        { operation: 'upsert', kind: 'garbage' },
      ],
      [
        ['upsert', null],
        ['upsert', null],
        ['upsert', null],
      ],
      ['drop', 'garbage', null],
    ],
    [
      'for ever',
      [{ operation: 'upsert', kind: 'drop', times: Infinity }],
      Array.from({ length: 5 }, () => ['upsert', null] as const),
      Array.from({ length: 5 }, () => 'drop'),
    ],
  ])('%s', (_, added, requests, struck) => {
    const faults = new Faults();
    for (const fault of added) faults.add(fault);
    expect(requests.map(([operation, key]) => faults.take(operation, key)?.kind ?? null)).toEqual(struck);
  });

  test('pending says what is left, clear forgets it', () => {
    const faults = new Faults();
    faults.add({ operation: 'upsert', kind: 'drop', times: 2, after: 1 });
    faults.take('upsert', null);
    faults.take('upsert', null);
    expect(faults.pending()).toEqual([{ operation: 'upsert', kind: 'drop', times: 1, after: 0 }]);
    faults.clear();
    expect(faults.pending()).toEqual([]);
    expect(faults.take('upsert', null)).toBeNull();
  });
});

describe('faults that answer', () => {
  test('status in the shape of the surface, with headers', async () => {
    const { emulator } = await start();
    emulator.faults.add({
      operation: 'upsert',
      kind: 'status',
      status: 503,
      headers: { 'Retry-After': '7' },
    });
    emulator.faults.add({
      operation: 'upsert',
      kind: 'status',
      status: 403,
      type: 'QuotaExceeded',
      message: 'full',
    });
    emulator.faults.add({ operation: 'upload', kind: 'status', status: 503, type: 'SlowDown' });
    const first = await put(emulator, body);
    expect(first.status).toBe(503);
    expect(first.headers['retry-after']).toBe('7');
    expect(JSON.parse(first.text)).toMatchObject({ code: 503, type: 'Unknown' });
    const second = await put(emulator, body);
    expect(JSON.parse(second.text)).toMatchObject({ code: 403, type: 'QuotaExceeded', message: 'full' });
    expect(findFile(emulator, 'a.txt')).toBeNull();
    const third = await upload(await upsert(emulator, body), 'abc');
    expect(third.status).toBe(503);
    expect(third.text).toContain('<Code>SlowDown</Code>');
    expect(readText(emulator, 'a.txt')).toBeNull();
  });

  test('status with a body of its own', async () => {
    const { emulator } = await start();
    const public403 = { type: 'Forbidden', description: 'no', status: 403 };
    emulator.faults.add({ operation: 'upsert', kind: 'status', status: 403, body: public403 });
    emulator.faults.add({ operation: 'upsert', kind: 'status', status: 502, body: '<h1>Bad gateway</h1>' });
    expect(JSON.parse((await put(emulator, body)).text)).toEqual(public403);
    expect((await put(emulator, body)).text).toBe('<h1>Bad gateway</h1>');
  });

  test('garbage and body are successes that carry nothing out', async () => {
    const { emulator } = await start();
    emulator.faults.add({ operation: 'upsert', kind: 'garbage' });
    emulator.faults.add({ operation: 'upsert', kind: 'body', body: { file: {} } });
    const garbage = await put(emulator, body);
    expect(garbage.status).toBe(200);
    expect(() => JSON.parse(garbage.text) as unknown).toThrow();
    expect(await put(emulator, body)).toMatchObject({ status: 200, text: '{"file":{}}' });
    expect(findFile(emulator, 'a.txt')).toBeNull();
  });

  test('missing-upload-url carries the upsert out', async () => {
    const { emulator } = await start();
    emulator.faults.add({ operation: 'upsert', kind: 'missing-upload-url' });
    const { file } = JSON.parse((await put(emulator, body)).text) as { file: Record<string, unknown> };
    expect(file['key']).toBe('a.txt');
    expect(file).not.toHaveProperty('uploadUrl');
    expect(findFile(emulator, 'a.txt')?.status).toBe('upload_pending');
  });
});

describe('faults that end the connection', () => {
  test.each<[string, Fault]>([
    ['drop', { operation: 'upload', kind: 'drop' }],
    ['cut at once', { operation: 'upload', kind: 'cut', afterBytes: 0 }],
    ['cut midway', { operation: 'upload', kind: 'cut', afterBytes: 500_000 }],
    ['cut after the last byte', { operation: 'upload', kind: 'cut', afterBytes: 2_000_000 }],
  ])('%s stores nothing', async (_, fault) => {
    const { emulator } = await start();
    emulator.faults.add(fault);
    const content = Buffer.alloc(1_000_000);
    const file = await upsert(emulator, { key: 'a.bin', size: content.length });
    await expect(upload(file, content)).rejects.toThrow();
    expect(findFile(emulator, 'a.bin')?.content).toBeNull();
    expect((await upload(file, content)).status).toBe(200);
  });

  test('drop and cut of an upsert carry nothing out', async () => {
    const { emulator } = await start();
    emulator.faults.add({ operation: 'upsert', kind: 'drop' });
    emulator.faults.add({ operation: 'upsert', kind: 'cut', afterBytes: 5 });
    await expect(put(emulator, body)).rejects.toThrow();
    await expect(put(emulator, body)).rejects.toThrow();
    expect(findFile(emulator, 'a.txt')).toBeNull();
  });

  test('apply-then-drop loses only the answer', async () => {
    const { emulator } = await start();
    emulator.faults.add({ operation: 'upload', kind: 'apply-then-drop' });
    emulator.faults.add({ operation: 'upsert', kind: 'apply-then-drop', key: 'lost.txt' });
    await expect(upload(await upsert(emulator, body), 'abc')).rejects.toThrow();
    expect(readText(emulator, 'a.txt')).toBe('abc');
    await expect(put(emulator, { key: 'lost.txt', size: 1 })).rejects.toThrow();
    expect(findFile(emulator, 'lost.txt')?.status).toBe('upload_pending');
  });
});

describe('faults that hang', () => {
  test.each(['upsert', 'upload', 'content'])(
    'hang before the answer of %s until clear',
    async (operation) => {
      const { emulator } = await start({ recordRequests: true });
      const file = await store(emulator, 'old.txt', 'old');
      emulator.faults.add({ operation, kind: 'hang' });
      const reply =
        operation === 'upsert'
          ? put(emulator, body)
          : operation === 'upload'
            ? upload(await upsert(emulator, body), 'abc')
            : send(file.url, 'GET', {});
      await expect.poll(() => emulator.faults.pending()).toEqual([]);
      expect(emulator.requests.at(-1)).toMatchObject({ operation, status: null });
      emulator.faults.clear();
      expect((await reply).status).toBe(200);
      expect(emulator.requests.at(-1)).toMatchObject({ operation, status: 200 });
    },
  );

  test('hang-mid-body sends half and, after clear, the rest', async () => {
    const { emulator } = await start();
    const content = '0123456789'.repeat(100_000);
    const file = await store(emulator, 'a.bin', content);
    emulator.faults.add({ operation: 'content', kind: 'hang-mid-body' });
    const reply = await fetch(file.url);
    expect(reply.headers.get('content-length')).toBe(String(content.length));
    let text = '';
    for await (const chunk of (reply.body ?? []) as AsyncIterable<Uint8Array>) {
      text += Buffer.from(chunk).toString();
      if (text.length === content.length / 2) emulator.faults.clear();
    }
    expect(text).toBe(content);
  });

  test.each<Fault>([
    { operation: 'upsert', kind: 'hang' },
    { operation: 'upsert', kind: 'hang-mid-body' },
    { operation: 'upsert', kind: 'delay', delayMs: 3_600_000 },
  ])('close ends $kind promptly', async (fault) => {
    const { emulator } = await start();
    emulator.faults.add(fault);
    const reply = put(emulator, body);
    const failed = expect(reply).rejects.toThrow();
    await expect.poll(() => emulator.faults.pending()).toEqual([]);
    await emulator.close();
    await failed;
    const { emulator: again } = await start({ dataDir: emulator.dataDir });
    expect(again.listFiles('demo-bot')).toHaveLength(fault.kind === 'hang-mid-body' ? 1 : 0);
  });
});
