// The least that can be done: the same requests, one after the other on each connection; nothing is looked for, checked
// or recorded. Arguments: base URL, directory, connections, "read" (each file from disk) or "memory" (one buffer for all).
import { readdirSync, readFileSync } from 'node:fs';
import { Pool } from 'undici';

const [baseUrl, directory, connections, from] = process.argv.slice(2);
const pool = new Pool(baseUrl, { connections: Number(connections) });
const names = readdirSync(directory, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => `${entry.parentPath}/${entry.name}`);
const memory = readFileSync(names[0]);
let next = 0;

async function work() {
  for (let n = next++; n < names.length; n = next++) {
    const content = from === 'read' ? readFileSync(names[n]) : memory;
    const key = names[n].slice(directory.length + 1);
    const entry = { key, size: content.length, index: false, tags: {}, metadata: {}, accessPolicies: [] };
    const upserted = await pool.request({
      method: 'PUT',
      path: '/v1/files',
      headers: { authorization: 'Bearer bench', 'x-bot-id': 'bench', 'content-type': 'application/json' },
      body: JSON.stringify({ ...entry, contentType: 'text/markdown' }),
    });
    const { file } = await upserted.body.json();
    const { pathname, search } = new URL(file.uploadUrl);
    const uploaded = await pool.request({
      method: 'PUT',
      path: pathname + search,
      headers: { 'content-type': file.contentType, 'content-length': String(content.length) },
      body: content,
    });
    await uploaded.body.dump();
    if (uploaded.statusCode !== 200) throw new Error(`upload answered ${uploaded.statusCode}`);
  }
}

await Promise.all(Array.from({ length: Number(connections) }, work));
await pool.close();
