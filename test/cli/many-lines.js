// Runs the built command on many command lines, one after the other in this process: what only looks at its arguments is
// over long before a process has started. `node many-lines.js START LINES`: `start.js` of the build, and a file with the
// lines as JSON, which is replaced by their exit codes. After each line both standard outputs get a NUL.
import { readFileSync, writeFileSync, writeSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';

const [node, , startFile, linesFile] = process.argv;
// Each line listens for defects of its own.
process.setMaxListeners(0);
const codes = [];
for (const [number, { script, args }] of JSON.parse(readFileSync(linesFile, 'utf8')).entries()) {
  process.argv = [node, script, ...args];
  process.exitCode = undefined;
  // By another name it is loaded again, and runs what `process.argv` says.
  await import(`${pathToFileURL(startFile).href}?line=${number}`);
  codes.push(process.exitCode);
  // Results are written at the end of a turn.
  await setImmediate();
  for (const output of [1, 2]) writeSync(output, '\0');
}
writeFileSync(linesFile, JSON.stringify(codes));
process.exitCode = 0;
