import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect } from 'vitest';
import { startEmulator, type Emulator } from '../../src/emulator/emulator.ts';
import { fuzz } from './edge.ts';
import { renderRequest, request, type RawRequest } from './raw-request.ts';

let emulator: Emulator;
let dataDir: string;
let given: Readonly<Record<string, string>>;

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'botsync-fuzz-'));
  emulator = await startEmulator({ dataDir, bots: [{ id: 'bot', name: 'Bot' }] });
  const { token, workspaceId, webhookId, userKey } = emulator;
  given = { token, workspace: workspaceId, webhook: webhookId, userKey };
});
afterAll(async () => {
  // What it took can still be read.
  expect(emulator.listFiles('bot').length).toBeGreaterThan(0);
  expect(emulator.listConversations('bot').length).toBeGreaterThan(0);
  await emulator.close();
  rmSync(dataDir, { recursive: true });
});

fuzz<readonly RawRequest[]>({
  name: 'emulator-requests',
  inputs: fc.array(request, { minLength: 1, maxLength: 3 }),
  check: async (requests) => {
    for (const one of requests) {
      const received = await exchange(one);
      noteAddresses(received);
      for (const answer of received.split(/(?=^HTTP\/1\.1 )/mu)) {
        if (answer === '') continue;
        const status = Number(/^HTTP\/1\.1 (\d{3}) /u.exec(answer)?.[1]);
        // 501 is what a store says to a body of no stated length.
        if (status !== 501) expect(status, answer).toBeLessThan(500);
        expect(answer).not.toMatch(/\n {4}at |\.[jt]s:\d+:\d+/u);
      }
    }
  },
});

/** Later requests can be about the file that an answer spoke of. */
function noteAddresses(answer: string): void {
  const upload = /"uploadUrl":"http:\/\/[^/]+([^"]+)"/u.exec(answer)?.[1];
  const url = /"url":"http:\/\/[^/]+([^"]+)"/u.exec(answer)?.[1];
  if (upload !== undefined) given = { ...given, upload };
  if (url !== undefined) given = { ...given, url, file: /file_[0-9a-f]+/u.exec(url)?.[0] ?? '' };
}

/** Sends a request on a connection of its own; everything that comes back until the connection ends, as Latin-1. */
async function exchange(one: RawRequest): Promise<string> {
  const { port } = new URL(emulator.baseUrl);
  const socket = connect(Number(port), '127.0.0.1');
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  // The emulator may end the connection while there is still something to send.
  socket.on('error', () => undefined);
  const closed = new Promise((resolve) => socket.on('close', resolve));
  socket.end(renderRequest(one, given));
  await closed;
  return Buffer.concat(chunks).toString('latin1');
}
