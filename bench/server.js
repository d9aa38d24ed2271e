// The counterpart of the upload benchmarks: answers as fast as Node can, keeps nothing, and checks only that every
// byte arrived. A process of its own, so that its work is nobody's.
import { createServer } from 'node:http';

let requests = 0;
const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  requests += 1;
  if (request.url === '/requests') {
    response.end(String(requests - 1));
    return;
  }
  let size = 0;
  const chunks = [];
  const isUpsert = request.url === '/v1/files';
  request.on('data', (chunk) => {
    size += chunk.length;
    if (isUpsert) chunks.push(chunk);
  });
  request.on('end', () => {
    if (isUpsert) {
      const body = JSON.parse(Buffer.concat(chunks).toString());
      const uploadUrl = `http://127.0.0.1:${server.address().port}/upload/${encodeURIComponent(body.key)}`;
      const file = { id: 'file', botId: 'bench', ...body, url: uploadUrl, uploadUrl, status: 'upload_pending' };
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ file }));
      return;
    }
    response.statusCode = size === Number(request.headers['content-length']) ? 200 : 400;
    response.end();
  });
});
server.listen(0, '127.0.0.1', () => process.send(server.address().port));
process.on('disconnect', () => process.exit());
