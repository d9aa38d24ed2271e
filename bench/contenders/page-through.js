// The least that can be done to know what the platform has: page after page, each parsed and forgotten. Arguments: base
// URL, files a page.
import { Pool } from 'undici';

const [baseUrl, pageSize] = process.argv.slice(2);
const pool = new Pool(baseUrl, { connections: 1 });
let files = 0;
let nextToken;
do {
  const more = nextToken === undefined ? '' : `&nextToken=${encodeURIComponent(nextToken)}`;
  const answered = await pool.request({
    method: 'GET',
    path: `/v1/files?sortField=createdAt&sortDirection=asc&pageSize=${pageSize}${more}`,
    headers: { authorization: 'Bearer bench', 'x-bot-id': 'bench' },
  });
  const page = await answered.body.json();
  if (answered.statusCode !== 200) throw new Error(`the list answered ${answered.statusCode}`);
  files += page.files.length;
  ({ nextToken } = page.meta);
} while (nextToken !== undefined);
await pool.close();
console.log(`${files} files`);
