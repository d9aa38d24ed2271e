// The least that can be done: the same requests from memory, nothing read, checked or recorded.
// Arguments: base URL, number of files, bytes a file, connections.
import { Pool } from 'undici';

const [baseUrl, files, bytes, connections] = process.argv.slice(2);
const pool = new Pool(baseUrl, { connections: Number(connections) });
const content = Buffer.alloc(Number(bytes), 'x');
let next = 0;

async function work() {
  for (let n = next++; n < Number(files); n = next++) {
    const key = `docs/file-${n}.md`;
    const upserted = await pool.request({
      method: 'PUT',
      path: '/v1/files',
      headers: { authorization: 'Bearer bench', 'x-bot-id': 'bench', 'content-type': 'application/json' },
      body: JSON.stringify({ key, size: content.length, index: false, tags: {}, metadata: {}, accessPolicies: [], contentType: 'text/markdown' }),
    });
    const { file } = await upserted.body.json();
    const { pathname } = new URL(file.uploadUrl);
    const uploaded = await pool.request({
      method: 'PUT',
      path: pathname,
      headers: { 'content-type': file.contentType, 'content-length': String(content.length) },
      body: content,
    });
    await uploaded.body.dump();
    if (uploaded.statusCode !== 200) throw new Error(`upload answered ${uploaded.statusCode}`);
  }
}

await Promise.all(Array.from({ length: Number(connections) }, work));
await pool.close();
