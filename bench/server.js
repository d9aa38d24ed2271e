// The counterpart of the upload benchmarks: does what every platform and store of this kind has to do for a file, and
// nothing else. It checks the token, signs the upload address, verifies the signature, hashes the content for its ETag;
// it keeps nothing. A process of its own, so that its work is nobody's.
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';

let requests = 0;
/** The key whose uploads are told of. */
let watched = null;
const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  if (request.url === '/requests') {
    response.end(String(requests));
    return;
  }
  requests += 1;
  if (request.url === '/v1/files') upsert(request, response);
  else upload(request, response);
});

function upsert(request, response) {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    if (request.headers.authorization !== 'Bearer bench') {
      answer(response, 401, { code: 401, type: 'Unauthorized', message: 'wrong token' });
      return;
    }
    const body = JSON.parse(Buffer.concat(chunks).toString());
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
  const hash = createHash('sha256');
  let size = 0;
  request.on('data', (chunk) => {
    size += chunk.length;
    hash.update(chunk);
  });
  request.on('end', () => {
    response.statusCode = !isGenuine ? 403 : path.endsWith(`size=${size}`) ? 200 : 400;
    response.setHeader('etag', `"${hash.digest('hex')}"`);
    response.end();
    const key = decodeURIComponent(/\/upload\/([^?]*)/.exec(path)[1]);
    // The machine's monotonic clock: every process reads the same.
    if (key === watched) process.send({ key, size, endedNs: String(process.hrtime.bigint()) });
  });
}

function sign(path) {
  return createHmac('sha256', 'bench').update(path).digest('hex');
}

function answer(response, status, body) {
  response.statusCode = status;
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify(body));
}

server.listen(0, '127.0.0.1', () => process.send(server.address().port));
process.on('disconnect', () => process.exit());
process.on('message', ({ watch }) => {
  watched = watch;
});
