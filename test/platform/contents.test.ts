import { createHash } from 'node:crypto';
import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { PlatformContents } from '../../src/platform/files.ts';
import { closedAddress, connect, failureIn, NEVER, serve, valueOf } from './fixture.ts';

const CONTENT = Buffer.alloc(3_000_000, 'content ');

function contentsAt(url: string, stallTimeoutMs = 20_000): PlatformContents {
  return new PlatformContents(connect(url, { stallTimeoutMs }).http);
}

test('content is read to its end and hashed, with nothing of ours beside the request', async () => {
  let headers = {};
  const { url } = await serve((request, response) => {
    headers = request.headers;
    response.end(CONTENT);
  });
  const digest = valueOf(await contentsAt(url).digestOf(`${url}/a?signature=1`, NEVER));
  expect(digest).toEqual(createHash('sha256').update(CONTENT).digest());
  expect(Object.keys(headers).sort()).toEqual(['connection', 'host']);
});

test.each([
  [403, 'transient'],
  [503, 'transient'],
  [400, 'refused'],
  [302, 'refused'],
])('the answer %d is a failure, %s, whatever comes with it', async (status, kind) => {
  const { url } = await serve((_request, response) => {
    response.writeHead(status, { location: `/elsewhere` }).end(CONTENT);
  });
  const contents = contentsAt(url);
  const message = `the content could not be read (${status})`;
  expect(failureIn(await contents.digestOf(url, NEVER))).toEqual({ kind, message });
  expect(failureIn(await contents.digestOf(url, NEVER))).toEqual({ kind, message });
});

test('a connection that is not made, or is lost in the middle of the content, is a transient failure', async () => {
  const closed = await closedAddress();
  expect(failureIn(await contentsAt(closed).digestOf(closed, NEVER))).toEqual({
    kind: 'transient',
    message: `cannot reach the store at ${closed}: connection refused (ECONNREFUSED)`,
    notCarriedOut: true,
    noConnection: 'local',
  });
  const { url } = await serve((request, response) => {
    response.writeHead(200, { 'content-length': CONTENT.length }).write(CONTENT.subarray(0, 1000));
    setTimeout(() => request.socket.destroy(), 20);
  });
  expect(failureIn(await contentsAt(url).digestOf(url, NEVER))).toEqual({
    kind: 'transient',
    message: 'connection lost',
  });
});

test('a server that falls silent is given up', async () => {
  const { url } = await serve((_request, response) => {
    response.writeHead(200, { 'content-length': CONTENT.length }).write(CONTENT.subarray(0, 1000));
  });
  expect(failureIn(await contentsAt(url, 1500).digestOf(url, NEVER))).toEqual({
    kind: 'transient',
    message: 'UND_ERR_BODY_TIMEOUT',
  });
});

test('an abort in the middle of the content ends it, with the reason', async () => {
  const { url } = await serve((_request, response) => {
    response.writeHead(200, { 'content-length': CONTENT.length }).write(CONTENT.subarray(0, 1000));
    stop.abort('no answer within 10 s');
  });
  const stop = new AbortController();
  expect(failureIn(await contentsAt(url).digestOf(url, stop.signal))).toEqual({
    kind: 'transient',
    message: 'no answer within 10 s',
  });
  expect(getEventListeners(stop.signal, 'abort')).toEqual([]);
});
