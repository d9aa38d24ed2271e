// npm run check:static: the checks that run nothing of botsync, as many at once as there are cores. The output of each is
// printed when it is over. All are run; exits with 1 when any has failed.
import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';

/** The longest first: none of them is left alone at the end. */
const waiting = ['check:lint', 'check:types', 'check:format', 'check:circles', 'check:api', 'check:unused'];

/** Runs a script of package.json. Resolves with what it printed, and whether it succeeded. */
function run(script) {
  return new Promise((resolve, reject) => {
    const child = spawn('npm', ['run', '--silent', script], { stdio: ['ignore', 'pipe', 'pipe'] });
    const output = [];
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (part) => output.push(part));
    child.on('error', reject);
    child.on('close', (code) => resolve({ text: Buffer.concat(output).toString(), isPassed: code === 0 }));
  });
}

async function work() {
  for (let script = waiting.shift(); script !== undefined; script = waiting.shift()) {
    const startedAtMs = performance.now();
    const { text, isPassed } = await run(script);
    const seconds = ((performance.now() - startedAtMs) / 1000).toFixed(0);
    process.stdout.write(`${script}: ${isPassed ? 'passed' : 'FAILED'} after ${seconds} s\n${text}`);
    if (!isPassed) process.exitCode = 1;
  }
}

await Promise.all(Array.from({ length: availableParallelism() }, work));
