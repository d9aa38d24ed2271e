// The counterpart of the upload benchmarks: does what every platform and store of this kind has to do for a file, and
// nothing else. It checks the token, signs the upload address, verifies the signature, hashes the content for its ETag;
// it keeps nothing unless told to. A process of its own, so that its work is nobody's.
//
// What it can be besides, by a JSON body put to /conditions (all may be left out, and what is was never said):
//   rateLimit: { requests, windowMs, headers, retryAfter }   see SlidingWindow; uploads to the store do not count
//   answerDelayMs                                            before every answer of platform and store
//   slowStore: { bytesPerSecond, keyPrefix }                 see SlowStore
//   keep, indexingMs                                         it has the files that are put there, and the operations
//     on them (see file-operations.js); what is indexed can be searched so long after its last byte. The files stay for
//     as long as each later PUT says `keep`
//   clockAheadMs                                             what its `Date` and its files' times are ahead, or behind
// With BENCH_TLS in the environment it speaks https, by a certificate for tests.
// /tally tells what it saw since: by client (the token is `bench`, or `bench-NAME` of the client NAME), by operation, of
// uploads, and how soon files were told to be searchable. A PUT to /seed makes files that it has from then on:
// { facts, files: [[key, size, sha256], …], source }, with the mark that botsync leaves on what it sends from that source.
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { putObject } from './server/bucket.js';
import { answerOperation, describeFile, readOperation, refusal } from './server/file-operations.js';
import { KeptFiles } from './server/kept-files.js';
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
let clockAheadMs = 0;
/** `null`: nothing is kept, and only upserts are served. */
let kept = null;

const isEncrypted = process.env.BENCH_TLS !== undefined;
const settings = { keepAliveTimeout: 60_000, requestTimeout: 0 };
const server = isEncrypted
  ? createTlsServer({ ...settings, key: readTls('authority-key'), cert: readTls('authority') }, serve)
  : createServer(settings, serve);

function serve(request, response) {
  switch (request.url) {
    case '/requests':
      response.end(String(requests));
      return;
    case '/tally': {
      const confirmation = kept?.confirmation(performance.now()) ?? null;
      response.end(JSON.stringify({ ...tally, nowMs: tally.nowMs, confirmation }));
      return;
    }
    case '/conditions':
      readBody(request, (body) => {
        setConditions(JSON.parse(body));
        response.end();
      });
      return;
    case '/seed':
      readBody(request, (body) => {
        seed(JSON.parse(body));
        response.end();
      });
      return;
  }
  requests += 1;
  if (clockAheadMs !== 0) response.setHeader('date', new Date(now()).toUTCString());
  if (request.url.startsWith('/upload/')) upload(request, response);
  else if (request.url.startsWith('/bucket/')) putObject(request, response);
  else serveOperation(request, response);
}

function setConditions(conditions) {
  const { rateLimit, slowStore: slow, keep = false, indexingMs = 0 } = conditions;
  tally = new Tally();
  window = rateLimit === undefined ? null : new SlidingWindow(rateLimit);
  slowStore = slow === undefined ? null : new SlowStore(slow);
  ({ answerDelayMs = 0, clockAheadMs = 0 } = conditions);
  kept = keep ? (kept ?? new KeptFiles()) : null;
  kept?.setIndexing(indexingMs);
}

function seed({ facts, files, source }) {
  for (const [key, size, sha256] of files) {
    const metadata = { ...facts.metadata, botsync: { v: 1, sha256, source } };
    kept.upsert({ ...facts, key, size, metadata }, now());
    kept.complete(key, performance.now());
  }
}

function serveOperation(request, response) {
  const operation = readOperation(request.method, request.url);
  const client = /^Bearer bench(?:-(\w+))?$/u.exec(request.headers.authorization ?? '');
  const verdict = window?.admit(performance.now()) ?? { isAdmitted: true, headers: {} };
  tally.request(client?.[1] ?? '', operation.name, verdict.isAdmitted);
  for (const [name, value] of Object.entries(verdict.headers)) response.setHeader(name, value);
  readBody(request, (text) => {
    if (client === null) answer(response, refusal(401, 'Unauthorized', 'wrong token'));
    else if (!verdict.isAdmitted) answer(response, refusal(429, 'RateLimited', 'too many requests'));
    else if (operation.name === 'upsert') upsert(request, response, JSON.parse(text));
    else answer(response, answerOperation(operation, text, kept, moment()));
  });
}

function upsert(request, response, body) {
  const path = `/upload/${encodeURIComponent(body.key)}?size=${body.size}`;
  const uploadUrl = `${address()}${path}&signature=${sign(path)}`;
  if (kept !== null) {
    const described = describeFile(kept.upsert(body, now()), moment());
    answer(response, { status: 200, body: { file: { ...described, uploadUrl } } });
    return;
  }
  const time = new Date(now()).toISOString();
  const file = {
    id: `file_${requests}`,
    botId: request.headers['x-bot-id'],
    ...body,
    url: uploadUrl,
    uploadUrl,
  };
  const described = { ...file, createdAt: time, updatedAt: time, status: 'upload_pending' };
  answer(response, { status: 200, body: { file: described } });
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
    if (response.statusCode === 200) kept?.complete(key, performance.now());
    response.setHeader('etag', `"${hash.digest('hex')}"`);
    later(() => response.end());
    // The machine's monotonic clock: every process reads the same.
    if (key === watched) process.send({ key, size, endedNs: String(process.hrtime.bigint()) });
  });
}

/** What answers depend on besides the files: see `answerOperation`. */
function moment() {
  return { now: now(), atMs: performance.now(), address: address() };
}

/** The server's wall clock, epoch milliseconds. */
function now() {
  return Date.now() + clockAheadMs;
}

function address() {
  return `${isEncrypted ? 'https' : 'http'}://127.0.0.1:${server.address().port}`;
}

function readTls(name) {
  return readFileSync(new URL(`../test/tls/test-only-${name}.pem`, import.meta.url));
}

function sign(path) {
  return createHmac('sha256', 'bench').update(path).digest('hex');
}

function readBody(request, action) {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => action(Buffer.concat(chunks).toString()));
}

function answer(response, { status, body }) {
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
