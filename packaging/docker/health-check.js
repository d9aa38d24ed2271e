// The health check of the container image: whether the botsync that runs in it is alive. It asks over the socket beside the
// state file, which the configuration puts into the volume. Whether all is in sync is another question: `botsync status`.
import { readdirSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';

/** Where the state file is to be; a directory given as argument is for tests. */
const directory = process.argv[2] ?? '/var/lib/botsync';
/** Shorter than the time-out of the health check in the Dockerfile, milliseconds. */
const PATIENCE_MS = 8000;

const socket = readdirSync(directory).find((name) => name.endsWith('.socket'));
if (socket === undefined) {
  say(1, `no botsync runs with its state file in ${directory}`);
} else {
  const call = request({
    socketPath: join(directory, socket),
    path: '/healthz',
    headers: { host: 'localhost' },
    signal: AbortSignal.timeout(PATIENCE_MS),
  });
  call.once('response', (response) => {
    response.resume();
    say(response.statusCode === 200 ? 0 : 1, `botsync answers ${response.statusCode}`);
  });
  call.once('error', (error) => {
    say(1, `botsync does not answer: ${error.message}`);
  });
  call.end();
}

function say(code, text) {
  console.log(text);
  process.exitCode = code;
}
