import { createHash, randomBytes } from 'node:crypto';
import { createServer as createPlainServer, type RequestListener, type Server } from 'node:http';
import { createServer as createEncryptedServer } from 'node:https';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { REUSABLE_CHUNK_BYTES } from '../../src/domain/file-catalog.ts';
import { TEST_ONLY_IDENTITY } from '../tls/identity.ts';
import { connect, inChunks, listenOnFreePort, NEVER, valueOf } from './fixture.ts';

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

afterEach(() => {
  vi.unstubAllEnvs();
});

/** Chunks that are overwritten as soon as the next is asked for. */
async function* perishable(content: Buffer): AsyncGenerator<Buffer> {
  for await (const slice of inChunks(content, REUSABLE_CHUNK_BYTES)) {
    const chunk = Buffer.from(slice);
    yield chunk;
    chunk.fill(0);
  }
}

test.each<[string, (listener: RequestListener) => Server]>([
  ['http', (listener) => createPlainServer(listener)],
  ['https', (listener) => createEncryptedServer(TEST_ONLY_IDENTITY, listener)],
])('a slow receiver gets every chunk as it was handed over: %s', async (protocol, create) => {
  vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
  const content = randomBytes(40 * REUSABLE_CHUNK_BYTES + 1);
  const got = createHash('sha256');
  const server = create((request, response) => {
    void (async () => {
      for await (const part of request) {
        got.update(part as Buffer);
        for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
      }
      response.end();
    })();
  });
  onTestFinished(() => {
    server.close();
  });
  const port = await listenOnFreePort(server);
  const file = { uploadUrl: new URL(`${protocol}://localhost:${port}/`), contentType: 'a/b' };
  const { platform } = connect('http://unused.test');
  const chunks = perishable(content);
  valueOf(await platform.upload(file, { kind: 'stream', sizeBytes: content.length, chunks }, false, NEVER));
  expect(got.digest('hex')).toBe(sha256(content));
});
