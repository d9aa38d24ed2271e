import { describe, expect, test } from 'vitest';
import { findFile, put, readText, start, store, upload, upsert } from './fixture.ts';

const body = { key: 'a.txt', size: 3 };

describe('faults that send an answer badly', () => {
  test.each([
    ['upsert', 100],
    ['upsert', 1_000_000],
    ['upload', 0],
    ['content', 500_000],
  ])('cut-answer of %s after %d bytes carries it out', async (operation, afterBytes) => {
    const { emulator } = await start();
    const old = await store(emulator, 'old.bin', 'x'.repeat(1_000_000));
    const file = await upsert(emulator, { key: 'b.txt', size: 3 });
    emulator.faults.add({ operation, kind: 'cut-answer', afterBytes });
    const reply =
      operation === 'upsert'
        ? put(emulator, body)
        : operation === 'upload'
          ? upload(file, 'abc')
          : fetch(old.url).then((answer) => answer.text());
    await expect(reply).rejects.toThrow();
    expect(emulator.faults.pending()).toEqual([]);
    expect(findFile(emulator, 'a.txt') === null).toBe(operation !== 'upsert');
    expect(readText(emulator, 'b.txt')).toBe(operation === 'upload' ? 'abc' : null);
  });

  test('trickle sends the whole answer, in its time', async () => {
    const { emulator } = await start();
    const old = await store(emulator, 'old.bin', '0123456789');
    for (const operation of ['upsert', 'upload', 'content'])
      emulator.faults.add({ operation, kind: 'trickle', pieces: 4, everyMs: 20 });
    const begun = performance.now();
    const file = await upsert(emulator, body);
    expect(performance.now() - begun).toBeGreaterThanOrEqual(50);
    expect((await upload(file, 'abc')).status).toBe(200);
    expect(await (await fetch(old.url)).text()).toBe('0123456789');
    expect(readText(emulator, 'a.txt')).toBe('abc');
  });

  test('headers are added to the answer, and take the place of its own', async () => {
    const { emulator } = await start();
    const headers = { 'RateLimit-Remaining': '0', 'Content-Type': 'text/odd' };
    emulator.faults.add({ operation: 'upsert', kind: 'headers', headers });
    const reply = await put(emulator, body);
    expect(reply.headers).toMatchObject({ 'ratelimit-remaining': '0', 'content-type': 'text/odd' });
    expect(JSON.parse(reply.text)).toMatchObject({ file: { key: 'a.txt' } });
  });
});

describe('faults of the upload address', () => {
  test('upload-url-at names the same address elsewhere', async () => {
    const { emulator } = await start();
    emulator.faults.add({ operation: 'upsert', kind: 'upload-url-at', origin: 'https://elsewhere.test:7' });
    const { uploadUrl } = await upsert(emulator, body);
    expect(uploadUrl).toMatch(/^https:\/\/elsewhere\.test:7\/upload\/.*X-Amz-Signature=/u);
    const here = uploadUrl.replace('https://elsewhere.test:7', emulator.baseUrl);
    expect((await upload({ uploadUrl: here, contentType: 'text/plain' }, 'abc')).status).toBe(200);
  });

  test('expired-upload-url is refused as expired, not as forged', async () => {
    const { emulator } = await start();
    emulator.faults.add({ operation: 'upsert', kind: 'expired-upload-url' });
    const reply = await upload(await upsert(emulator, body), 'abc');
    expect(reply.status).toBe(403);
    expect(reply.text).toContain('<Message>Request has expired</Message>');
    expect(readText(emulator, 'a.txt')).toBeNull();
  });
});
