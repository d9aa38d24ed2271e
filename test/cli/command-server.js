// Runs the built command on one command line after another, each as its own process would run it: directory, environment,
// arguments and both outputs are those of the command. Most of the processor time of a short command is its start.
// `node command-server.js START`: `start.js` of the build. Each message holds `{ args, cwd, env }`; when the command has
// ended, each output gets a NUL and the answer is `{ code, open }`, where `open` names what would keep its process alive.
import { writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';

const [node, , startFile] = process.argv;
const start = pathToFileURL(startFile).href;

/** Time in which a command that has ended must close what it opened, milliseconds. */
const CLOSING_MS = 30_000;

/** What is open while no command runs: the channel to the tests, and standard outputs. */
const IDLE = new Set(['PipeWrap']);

let count = 0;

process.on('message', (line) => {
  void run(line).then((answer) => {
    for (const output of [1, 2]) writeSync(output, '\0');
    process.send(answer);
  });
});
process.on('disconnect', () => process.exit());

async function run({ args, cwd, env, script }) {
  for (const name of Object.keys(process.env)) Reflect.deleteProperty(process.env, name);
  Object.assign(process.env, env);
  process.chdir(cwd);
  process.argv = [node, script, ...args];
  process.exitCode = undefined;
  // By another name it is loaded again, and runs what `process.argv` says. The rest of the bundle is loaded once.
  await import(`${start}?line=${count++}`);
  const open = await stillOpen();
  // The next command listens for defects of its own.
  process.removeAllListeners('uncaughtException');
  const code = process.exitCode ?? 0;
  process.exitCode = undefined;
  return { code, open };
}

async function stillOpen() {
  for (const endMs = performance.now() + CLOSING_MS; ; await sleep(5, undefined, { ref: false })) {
    // Results are written at the end of a turn.
    await new Promise((resolve) => setImmediate(resolve));
    const open = process.getActiveResourcesInfo().filter((kind) => !IDLE.has(kind));
    if (open.length === 0 || performance.now() > endMs) return open;
  }
}
