// npm run test:fences: takes each fence between the hosts of a cluster (docs/decisions/0050) out of a copy of the sources, alone,
// and runs the tests that must notice. Says for each `red` and which test failed, or STILL GREEN; exits with 1 when one stays
// green, or when its tests are red without a change. With a word, `npm run test:fences -- epoch`: only fences with it in their names.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

/** Lets everything pass. */
const OPEN = '{ mayBegin: () => true, mayFinish: () => true, proven: () => Promise.resolve() }';

/** `only`: of the tests in the file, those whose names have this in them. `isBuilt`: they start the built command. */
const FENCES = [
  {
    name: 'durable intent before an upsert: the wait for the records',
    file: 'src/store/state-store.ts',
    text: 'attempt.sizeBytes, nowMs],\n    );\n    await this.#group.durable();',
    without: 'attempt.sizeBytes, nowMs],\n    );',
    tests: 'test/store/working-copy.test.ts',
  },
  {
    name: 'durable intent before an upsert: the wait for the ledger',
    file: 'src/store/working-copy.ts',
    text: 'await this.#ship(next);',
    without: 'void this.#ship(next);',
    tests: 'test/store/working-copy.test.ts',
  },
  {
    name: 'gate before the upsert',
    file: 'src/platform/http.ts',
    text: "to === 'platform' ? fence.mayBegin : fence.mayFinish",
    without: "to === 'platform' ? () => true : fence.mayFinish",
    tests: 'test/platform/fence.test.ts',
  },
  {
    name: 'gate before the upload',
    file: 'src/platform/http.ts',
    text: "to === 'platform' ? fence.mayBegin : fence.mayFinish",
    without: "to === 'platform' ? fence.mayBegin : () => true",
    tests: 'test/platform/fence.test.ts',
  },
  {
    name: 'gates of a daemon: its requests go under the lease',
    file: 'src/run/cluster/unit-holding.ts',
    text: 'clients: () => clientsUnder(lease)',
    without: `clients: () => clientsUnder(${OPEN})`,
    tests: 'test/cluster/late.test.ts',
    only: 'upserts that waited for their turn',
    isBuilt: true,
  },
  {
    name: 'gate before the last slice of an upload',
    file: 'src/platform/open-body.ts',
    text: 'if (isLast && this.sentBytes + part.length >= this.sizeBytes) await mayEnd();',
    without: '',
    tests: 'test/platform/fence.test.ts',
  },
  {
    name: 'reset of connections: when a request is broken off',
    file: 'src/platform/exchange.ts',
    text: 'if (this.#watch.socket !== null) reset(this.#watch.socket);',
    without: '',
    tests: 'test/platform/reset.test.ts',
  },
  {
    name: 'reset of connections: a lost lease breaks requests off',
    file: 'src/run/cluster/held-unit.ts',
    text: 'this.#abort.abort();',
    without: '',
    tests: 'test/cluster/late.test.ts',
    only: 'what the kernel still has',
    isBuilt: true,
  },
  {
    name: 'second sending of suspects: noted at a takeover',
    file: 'src/run/cluster/held-unit.ts',
    text: 'state.suspects.addUnfinished(clock.now() + cluster.config.suspectAfterMs);',
    without: '',
    tests: 'test/cluster/late.test.ts',
    only: 'it is sent once more',
    isBuilt: true,
  },
  {
    name: 'second sending of suspects: when they are due',
    file: 'src/sync/daemon/due-dates.ts',
    text: 'state.suspects.take(suspect);',
    without: '',
    tests: 'test/sync/daemon/suspects.test.ts',
  },
  {
    name: 'epoch in the SQL of a shipment',
    file: 'src/cluster/postgres/ledger.ts',
    text: 'WHERE id = $1 AND epoch = $2 AND holder = $3 AND seq = $4 RETURNING seq',
    // PostgreSQL wants to know the type of what is not used.
    without: 'WHERE id = $1 AND $2::bigint IS NOT NULL AND holder = $3 AND seq = $4 RETURNING seq',
    tests: 'test/cluster/ledger.test.ts',
  },
  {
    name: 'holder in the SQL of a shipment',
    file: 'src/cluster/postgres/ledger.ts',
    text: 'WHERE id = $1 AND epoch = $2 AND holder = $3 AND seq = $4 RETURNING seq',
    without: 'WHERE id = $1 AND epoch = $2 AND $3::text IS NOT NULL AND seq = $4 RETURNING seq',
    tests: 'test/cluster/ledger.test.ts',
  },
  {
    name: 'number of shipments in the SQL of a shipment',
    file: 'src/cluster/postgres/ledger.ts',
    text: 'WHERE id = $1 AND epoch = $2 AND holder = $3 AND seq = $4 RETURNING seq',
    without: 'WHERE id = $1 AND epoch = $2 AND holder = $3 AND $4::bigint IS NOT NULL RETURNING seq',
    tests: 'test/cluster/ledger.test.ts',
  },
];

/** What a copy needs to run tests and to build the command. */
const COPIED = [
  ...['src', 'test', 'scripts', 'docs', 'examples', 'package.json', 'package-lock.json', 'tsconfig.json'],
  ...['vitest.config.ts', 'config.schema.json', 'config.example.json', 'README.md', 'LICENSE'],
];

const [word = ''] = process.argv.slice(2);
takeOut(FENCES.filter(({ name }) => name.includes(word)));

function takeOut(fences) {
  if (fences.length === 0) throw new Error(`no fence has "${word}" in its name`);
  const copy = mkdtempSync(join(tmpdir(), 'botsync-fences-'));
  process.once('SIGINT', () => process.exit(130));
  process.once('exit', () => rmSync(copy, { recursive: true, force: true }));
  for (const name of COPIED) cpSync(name, join(copy, name), { recursive: true });
  symlinkSync(resolve('node_modules'), join(copy, 'node_modules'));

  const whole = new Map();
  for (const fence of fences) {
    const { name, file, tests, only = '' } = fence;
    const which = `${tests} ${only}`;
    if (!whole.has(which)) whole.set(which, failures(copy, fence));
    const source = readFileSync(join(copy, file), 'utf8');
    writeFileSync(join(copy, file), sourceWithout(fence, copy));
    const failed = failures(copy, fence);
    writeFileSync(join(copy, file), source);
    const isRedAnyway = whole.get(which).length > 0;
    const verdict = isRedAnyway ? 'RED WITHOUT A CHANGE' : failed.length > 0 ? 'red' : 'STILL GREEN';
    console.log(`${verdict.padEnd(12)} ${name}\n${' '.repeat(13)}${tests}: ${failed[0] ?? 'all passed'}`);
    if (verdict !== 'red') process.exitCode = 1;
  }
}

/** The source in which a fence is, without it. */
function sourceWithout({ name, file, text, without }, directory) {
  const parts = readFileSync(join(directory, file), 'utf8').split(text);
  if (parts.length !== 2)
    throw new Error(
      `the fence "${name}": its text is ${parts.length - 1} times in ${file}, not once; adapt scripts/fences.js`,
    );
  return parts.join(without);
}

/** Runs the tests of a fence in the copy. Gives the names of those that failed. */
function failures(copy, { name, tests, only, isBuilt = false }) {
  if (isBuilt) run(copy, process.execPath, ['scripts/build.js'], `the build without the fence "${name}"`);
  const report = join(copy, 'report.json');
  rmSync(report, { force: true });
  const filter = only === undefined ? [] : ['--testNamePattern', only];
  const reporting = ['--reporter=json', `--outputFile=${report}`];
  const { stderr } = spawnSync('npx', ['vitest', 'run', tests, ...filter, ...reporting], { cwd: copy });
  const { testResults, numPassedTests } = JSON.parse(readFileSync(report, 'utf8'));
  const failed = testResults.flatMap(({ assertionResults }) =>
    assertionResults.filter(({ status }) => status === 'failed').map(({ fullName }) => fullName),
  );
  // A source that cannot be loaded proves nothing.
  if (failed.length + numPassedTests === 0)
    throw new Error(`no test ran for the fence "${name}":\n${stderr}`);
  return failed;
}

function run(cwd, command, args, what) {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd });
  if (status !== 0) throw new Error(`${what} failed:\n${stdout}${stderr}`);
}
