import { once } from 'node:events';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { commandDaemon } from '../../src/cli/command-daemon.ts';
import { temporaryDirectory } from './binary.ts';

const ORDER = { kind: 'reload', terms: { at: 'once', by: null }, otherwise: 'start one' } as const;

/** A state file beside which something listens as a daemon does, and gives one answer. */
async function stateFileOf(status: number, body: string): Promise<string> {
  const stateFile = join(temporaryDirectory(), 'state.db');
  const server = createServer((request, response) => {
    const isAsWanted = request.method === 'POST' && request.url === '/reload?at=once';
    response.writeHead(isAsWanted ? status : 405).end(body);
  });
  server.listen(`${stateFile}.socket`);
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return stateFile;
}

test('what a daemon answers is returned', async () => {
  const stateFile = await stateFileOf(200, '{"problem":null}');
  expect(await commandDaemon(stateFile, ORDER)).toEqual({ problem: null });
});

test('a daemon that cannot do it now is a command that failed', async () => {
  const stateFile = await stateFileOf(200, '{"rescan":null,"trouble":"the disk is full"}');
  await expect(commandDaemon(stateFile, ORDER)).rejects.toMatchObject({
    message: 'the disk is full',
    exitCode: 3,
  });
});

test.each([
  [404, 'Not Found', 'the running botsync is an older version; restart it'],
  [503, 'starting\n', 'the running botsync reports: starting'],
])('a daemon that answers %i is a command that failed', async (status, body, message) => {
  const failed = { message, exitCode: 3 };
  await expect(commandDaemon(await stateFileOf(status, body), ORDER)).rejects.toMatchObject(failed);
});

test('where no daemon runs it says what to do instead', async () => {
  const failed = { message: 'no botsync is running on this state file; start one', exitCode: 3 };
  const stateFile = join(temporaryDirectory(), 'state.db');
  await expect(commandDaemon(stateFile, ORDER)).rejects.toMatchObject(failed);
});
