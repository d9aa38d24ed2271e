// Another client of the same account: so many requests a second, evenly, whatever is answered, until it is ended.
// Arguments: base URL, requests a second.
import { Pool } from 'undici';

const [baseUrl, perSecond] = process.argv.slice(2);
const pool = new Pool(baseUrl, { connections: 16 });
const began = performance.now();
let sent = 0;

setInterval(() => {
  const due = Math.floor(((performance.now() - began) / 1000) * Number(perSecond));
  for (; sent < due; sent++) void request();
}, 5);

async function request() {
  const answered = await pool.request({
    method: 'PUT',
    path: '/v1/files',
    headers: {
      authorization: 'Bearer bench-rival',
      'x-bot-id': 'bench',
      'content-type': 'application/json',
    },
    body: JSON.stringify({ key: `rival/${sent}`, size: 0 }),
  });
  await answered.body.dump();
}
