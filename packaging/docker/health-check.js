// The health check of the container image: whether the botsync that runs in it is alive. It asks over the socket beside the
// state file, which the configuration puts into the volume. Whether all is in sync is another question: `botsync status`.
import { readdirSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';

/** Where the state file is to be; a directory given as argument is for tests. */
const directory = process.argv[2] ?? '/var/lib/botsync';
/** Shorter than the time-out of the health check in the Dockerfile, milliseconds. */
const PATIENCE_MS = 8000;

// Beside the socket in use there may be that of a botsync that was killed, under another state file.
const sockets = readdirSync(directory).filter((name) => name.endsWith('.socket'));
const answers = await Promise.all(sockets.map(ask));
const best = answers.find(({ code }) => code === 0) ?? answers[0];
if (best === undefined) say(1, `no botsync runs with its state file in ${directory}`);
else say(best.code, best.text);

/** Asks over one socket; never rejects. */
function ask(socket) {
  return new Promise((resolve) => {
    const call = request({
      socketPath: join(directory, socket),
      path: '/healthz',
      headers: { host: 'localhost' },
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    call.once('response', (response) => {
      response.resume();
      const code = response.statusCode === 200 ? 0 : 1;
      resolve({ code, text: `botsync answers ${response.statusCode}` });
    });
    call.once('error', (error) => {
      resolve({ code: 1, text: `botsync does not answer: ${error.message}` });
    });
    call.end();
  });
}

function say(code, text) {
  console.log(text);
  process.exitCode = code;
}
