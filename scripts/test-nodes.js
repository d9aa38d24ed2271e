// Runs the tests on every version of Node that botsync promises to run on: `npm run test:nodes`, or with some of them
// `npm run test:nodes -- test/domain`. Versions other than the present one come from npm into a temporary directory.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

const MAJORS = ['20', '22', '24'];

const some = process.argv.slice(2);
const directory = mkdtempSync(join(tmpdir(), 'botsync-nodes-'));
const results = [];
try {
  execFileSync('npm', ['run', '--silent', 'build'], { stdio: 'inherit' });
  for (const major of MAJORS) results.push(test(major));
} finally {
  rmSync(directory, { recursive: true });
}
for (const { version, passed } of results) console.log(`Node ${version}: ${passed ? 'passed' : 'FAILED'}`);
process.exitCode = results.every(({ passed }) => passed) ? 0 : 1;

/** Runs the tests on one version, which also is the one that tests start their children with. */
function test(major) {
  const binaries = major === process.versions.node.split('.')[0] ? null : fetch(major);
  const node = binaries === null ? process.execPath : join(binaries, 'node');
  const path = [...(binaries === null ? [] : [binaries]), process.env.PATH].join(delimiter);
  const version = execFileSync(node, ['--version'], { encoding: 'utf8' }).trim().slice(1);
  console.log(`\nNode ${version}`);
  const run = ['node_modules/vitest/vitest.mjs', 'run', ...some];
  const { status } = spawnSync(node, run, { stdio: 'inherit', env: { ...process.env, PATH: path } });
  return { version, passed: status === 0 };
}

/** The directory of a version's binary; the newest of its major. */
function fetch(major) {
  const name = `node-${process.platform}-${process.arch}@${major}`;
  const [{ filename }] = JSON.parse(
    execFileSync('npm', ['pack', '--json', '--pack-destination', directory, name], { encoding: 'utf8' }),
  );
  const target = mkdtempSync(join(directory, `${major}-`));
  execFileSync('tar', ['xzf', join(directory, filename), '-C', target]);
  return join(target, 'package', 'bin');
}
