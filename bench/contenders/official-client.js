// The upload script that people write today: the official client's uploadFile in a loop.
// Arguments: base URL, directory, concurrency.
import { readdirSync, readFileSync } from 'node:fs';
import { Client } from '@botpress/client';

const [apiUrl, directory, concurrency] = process.argv.slice(2);
const client = new Client({ apiUrl, token: 'bench', botId: 'bench' });
const names = readdirSync(directory, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => `${entry.parentPath}/${entry.name}`);
let next = 0;

async function work() {
  for (let n = next++; n < names.length; n = next++) {
    await client.uploadFile({ key: names[n].slice(directory.length + 1), content: readFileSync(names[n]) });
  }
}

await Promise.all(Array.from({ length: Number(concurrency) }, work));
