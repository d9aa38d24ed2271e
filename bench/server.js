// The counterpart of the upload benchmarks: does what every platform and store of this kind has to do for a file, and
// nothing else. It checks the token, signs the upload address, verifies the signature, hashes the content for its ETag;
// it keeps nothing. A process of its own, so that its work is nobody's.
//
// What it can be besides, by a JSON body put to /conditions (all may be left out, and what is was never said):
//   rateLimit: { requests, windowMs, headers, retryAfter }   see SlidingWindow; uploads to the store do not count
//   answerDelayMs                                            before every answer of platform and store
//   slowStore: { bytesPerSecond, keyPrefix }                 see SlowStore
// /tally tells what it saw since, by client: the token is `bench`, or `bench-NAME` of the client NAME.
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import { putObject } from './server/bucket.js';
import { SlidingWindow } from './server/sliding-window.js';
import { SlowStore } from './server/slow-store.js';
import { Tally } from './server/tally.js';

let requests = 0;
/** The key whose uploads are told of. */
let watched = null;
let tally = new Tally();
let window = null;
let slowStore = null;
let answerDelayMs = 0;

const server = createServer({ keepAliveTimeout: 60_000, requestTimeout: 0 }, (request, response) => {
  switch (request.url) {
    case '/requests':
      response.end(String(requests));
      return;
    case '/tally':
      response.end(JSON.stringify({ ...tally, nowMs: tally.nowMs }));
      return;
    case '/conditions':
      readBody(request, (body) => {
        setConditions(JSON.parse(body));
        response.end();
      });
      return;
  }
  requests += 1;
  if (request.url === '/v1/files') upsert(request, response);
  else if (request.url.startsWith('/bucket/')) putObject(request, response);
  else upload(request, response);
});

function setConditions({ rateLimit, answerDelayMs: delayMs = 0, slowStore: slow }) {
  tally = new Tally();
  window = rateLimit === undefined ? null : new SlidingWindow(rateLimit);
  slowStore = slow === undefined ? null : new SlowStore(slow);
  answerDelayMs = delayMs;
}

function upsert(request, response) {
  const client = /^Bearer bench(?:-(\w+))?$/u.exec(request.headers.authorization ?? '');
  const verdict = window?.admit(performance.now()) ?? { isAdmitted: true, headers: {} };
  tally.request(client?.[1] ?? '', verdict.isAdmitted);
  for (const [name, value] of Object.entries(verdict.headers)) response.setHeader(name, value);
  readBody(request, (text) => {
    if (client === null) {
      answer(response, 401, { code: 401, type: 'Unauthorized', message: 'wrong token' });
      return;
    }
    if (!verdict.isAdmitted) {
      answer(response, 429, { code: 429, type: 'RateLimited', message: 'too many requests' });
      return;
    }
    const body = JSON.parse(text);
    const path = `/upload/${encodeURIComponent(body.key)}?size=${body.size}`;
    const uploadUrl = `http://127.0.0.1:${server.address().port}${path}&signature=${sign(path)}`;
    const now = new Date().toISOString();
    const file = {
      id: `file_${requests}`,
      botId: request.headers['x-bot-id'],
      ...body,
      url: uploadUrl,
      uploadUrl,
    };
    answer(response, 200, { file: { ...file, createdAt: now, updatedAt: now, status: 'upload_pending' } });
  });
}

function upload(request, response) {
  const [path, signature = ''] = request.url.split('&signature=');
  const isGenuine =
    signature.length === 64 && timingSafeEqual(Buffer.from(signature), Buffer.from(sign(path)));
  const key = decodeURIComponent(/\/upload\/([^?]*)/.exec(path)[1]);
  const hash = createHash('sha256');
  let size = 0;
  tally.upload(request, key);
  slowStore?.slow(request, key);
  request.on('data', (chunk) => {
    size += chunk.length;
    hash.update(chunk);
  });
  request.on('end', () => {
    response.statusCode = !isGenuine ? 403 : path.endsWith(`size=${size}`) ? 200 : 400;
    response.setHeader('etag', `"${hash.digest('hex')}"`);
    later(() => response.end());
    // The machine's monotonic clock: every process reads the same.
    if (key === watched) process.send({ key, size, endedNs: String(process.hrtime.bigint()) });
  });
}

function sign(path) {
  return createHmac('sha256', 'bench').update(path).digest('hex');
}

function readBody(request, action) {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => action(Buffer.concat(chunks).toString()));
}

function answer(response, status, body) {
  response.statusCode = status;
  response.setHeader('content-type', 'application/json');
  later(() => response.end(JSON.stringify(body)));
}

function later(action) {
  if (answerDelayMs > 0) setTimeout(action, answerDelayMs);
  else action();
}

const { LISTEN_FD: inherited } = process.env;
const where = inherited === undefined ? { port: 0, host: '127.0.0.1' } : { fd: Number(inherited) };
server.listen(where, () => process.send(server.address().port));
process.on('disconnect', () => process.exit());
process.on('message', ({ watch }) => {
  watched = watch;
});
