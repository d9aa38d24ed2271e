// npm run test:coverage: which lines of src/ no test reaches, neither in the test's own process nor in a built command that
// tests start. The list goes to coverage/unreached.txt, a table to standard output.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { Report } from 'c8';

const OUTPUT = 'coverage';
// Every process that ends by itself leaves some megabytes there.
const traces = mkdtempSync(join(tmpdir(), 'botsync-coverage-'));

try {
  run('node', ['scripts/build.js']);
  const reporting = [
    '--coverage',
    '--coverage.reporter=json',
    `--coverage.reportsDirectory=${OUTPUT}/modules`,
  ];
  run('npx', ['vitest', 'run', ...reporting]);
  run('npx', ['vitest', 'run', 'test/cli'], { NODE_V8_COVERAGE: traces });
  const of = {
    tempDirectory: traces,
    include: ['dist/**'],
    all: false,
    mergeAsync: true,
    src: [process.cwd()],
  };
  await new Report({ ...of, reporter: ['json'], reportsDirectory: `${OUTPUT}/commands`, resolve: '' }).run();
} finally {
  rmSync(traces, { recursive: true, force: true });
  run('node', ['scripts/build.js']);
}
report(read('modules'), read('commands'));

function run(command, args, env = {}) {
  const { status } = spawnSync(command, args, { stdio: 'inherit', env: { ...process.env, ...env } });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${status}`);
}

/** The lines of every file on which a statement begins, and whether one of them was carried out. */
function read(part) {
  const files = JSON.parse(readFileSync(join(OUTPUT, part, 'coverage-final.json'), 'utf8'));
  return new Map(
    Object.values(files).map(({ path, statementMap, s }) => {
      const lines = new Map();
      for (const [id, { start }] of Object.entries(statementMap))
        lines.set(start.line, lines.get(start.line) === true || s[id] > 0);
      return [relative('.', path), lines];
    }),
  );
}

function report(modules, commands) {
  const rooms = new Map();
  const unreached = [];
  for (const [file, lines] of [...modules].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const missed = [...lines].flatMap(([line, isReached]) =>
      isReached || commands.get(file)?.get(line) === true ? [] : [line],
    );
    const name = file.split('/').slice(0, 2).join('/');
    const room = rooms.get(name) ?? { lines: 0, reached: 0 };
    rooms.set(name, { lines: room.lines + lines.size, reached: room.reached + lines.size - missed.length });
    if (missed.length > 0) unreached.push(`${file}:${missed.sort((a, b) => a - b).join(',')}`);
  }
  const sum = (of) => [...rooms.values()].reduce((total, room) => total + room[of], 0);
  const all = { lines: sum('lines'), reached: sum('reached') };
  for (const [name, { lines, reached }] of [...rooms, ['all', all]])
    console.log(`${name.padEnd(16)} ${((reached / lines) * 100).toFixed(1).padStart(5)} % of ${lines} lines`);
  mkdirSync(OUTPUT, { recursive: true });
  writeFileSync(join(OUTPUT, 'unreached.txt'), `${unreached.join('\n')}\n`);
  console.log(`\nNot reached, in ${OUTPUT}/unreached.txt:\n${unreached.join('\n')}`);
}
