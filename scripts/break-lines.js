// npm run test:breaks -- [--seed N] [--lines N] [--only N,N…]: draws lines of src/, breaks each alone in a copy of the repository
// (a condition turned round, an operator or a literal changed, a statement left out), and runs the tests until one notices:
// those that import the file first, the nearest before the others, then the built command's. Prints a line for each, and the share
// that was noticed. The same seed draws the same lines of the same sources: run it before and after tests are deleted.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import ts from 'typescript';

/** Tests in one run, from the nearest on. */
const BATCHES = [5, 20, 60];
const BATCH_LIMIT_MS = 240_000;
const COMMANDS = ['test/recorded', 'test/cli'];
/** An operator and what takes its place. */
const OPERATORS = {
  '===': '!==',
  '!==': '===',
  '<': '>=',
  '>=': '<',
  '>': '<=',
  '<=': '>',
  '+': '-',
  '-': '+',
  '*': '/',
  '&&': '||',
  '||': '&&',
  '??': '&&',
};

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
    lines: { type: 'string', default: '200' },
    only: { type: 'string' },
  },
});
const copy = mkdtempSync(join(tmpdir(), 'botsync-breaks-'));
process.once('SIGINT', () => process.exit(130));
process.once('exit', () => rmSync(copy, { recursive: true, force: true }));

const tracked = spawnSync('git', ['ls-files', '-z'], { encoding: 'utf8' }).stdout.split('\0').filter(Boolean);
for (const path of tracked) cpSync(path, join(copy, path));
symlinkSync(resolve('node_modules'), join(copy, 'node_modules'));
const importers = importersOf(tracked.filter((path) => /^(src|test)\/.*\.ts$/.test(path)));

console.log(`seed ${values.seed}`);
const breaks = drawBreaks(Number(values.lines), Number(values.seed));
const chosen = values.only?.split(',').map(Number) ?? breaks.map((_, index) => index + 1);
let noticed = 0;
for (const number of chosen) {
  const { path, line, was, becomes, text } = breaks[number - 1];
  const original = readFileSync(join(copy, path), 'utf8');
  writeFileSync(join(copy, path), text);
  const test = firstToNotice(path);
  writeFileSync(join(copy, path), original);
  if (test !== null) noticed += 1;
  console.log(`${number} ${path}:${line} \`${was}\` -> \`${becomes}\`: ${test ?? 'NOT NOTICED'}`);
}
console.log(`noticed ${noticed} of ${chosen.length}`);

/** Draws lines until as many can be broken: neither types, imports nor lone brackets can. */
function drawBreaks(count, seed) {
  const lines = tracked
    .filter((path) => /^src\/.*\.ts$/.test(path))
    .flatMap((path) =>
      readFileSync(path, 'utf8')
        .split('\n')
        .map((_, index) => ({ path, line: index + 1 })),
    );
  const random = createRandom(seed);
  const drawn = [];
  while (drawn.length < count) {
    const { path, line } = lines.splice(Math.floor(random() * lines.length), 1)[0];
    const ways = waysToBreak(readFileSync(path, 'utf8'), line);
    if (ways.length > 0) drawn.push({ path, line, ...ways[Math.floor(random() * ways.length)] });
  }
  return drawn;
}

/** Every way to break what begins on a line of a source. */
function waysToBreak(source, line) {
  const tree = ts.createSourceFile('source.ts', source, ts.ScriptTarget.Latest, true);
  const ways = [];
  const replace = (node, becomes) => {
    const start = node.getStart(tree);
    if (tree.getLineAndCharacterOfPosition(start).line + 1 !== line) return;
    const was = source.slice(start, node.end).replace(/\s+/g, ' ').slice(0, 60);
    const text = source.slice(0, start) + becomes + source.slice(node.end);
    ways.push({ was, becomes: becomes.replace(/\s+/g, ' ').slice(0, 60), text });
  };
  const visit = (node) => {
    if (ts.isTypeNode(node) || ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return;
    if (ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)) return;
    if (ts.isIfStatement(node) || ts.isWhileStatement(node))
      replace(node.expression, `!(${node.expression.getText(tree)})`);
    if (ts.isConditionalExpression(node)) replace(node.condition, `!(${node.condition.getText(tree)})`);
    if (ts.isExpressionStatement(node)) replace(node, ';');
    if (ts.isBinaryExpression(node) && node.operatorToken.getText(tree) in OPERATORS)
      replace(node.operatorToken, OPERATORS[node.operatorToken.getText(tree)]);
    if (ts.isNumericLiteral(node)) replace(node, `(${node.text} + 1)`);
    if (ts.isStringLiteral(node) && node.parent.name !== node) replace(node, `'${node.text}?'`);
    if (node.kind === ts.SyntaxKind.TrueKeyword) replace(node, 'false');
    if (node.kind === ts.SyntaxKind.FalseKeyword) replace(node, 'true');
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return ways;
}

/** The test file that fails first with what stands in the copy; null when all pass. */
function firstToNotice(path) {
  const tests = testsByDistance(path);
  for (const [batch, size] of BATCHES.entries()) {
    const from = BATCHES.slice(0, batch).reduce((sum, taken) => sum + taken, 0);
    const failed = failedTest(tests.slice(from, from + size));
    if (failed !== null) return failed;
  }
  const { status } = spawnSync('node', ['scripts/build.js'], { cwd: copy });
  return status === 0 ? failedTest(COMMANDS) : 'the build';
}

/** The test files that import a source, directly or not, the nearest first, of these those of its own name. */
function testsByDistance(path) {
  const distances = new Map([[path, 0]]);
  const waiting = [path];
  for (let at = waiting.shift(); at !== undefined; at = waiting.shift())
    for (const importer of importers.get(at) ?? [])
      if (!distances.has(importer)) {
        distances.set(importer, distances.get(at) + 1);
        waiting.push(importer);
      }
  const own = path.replace(/^src/, 'test').replace(/\.ts$/, '.test.ts');
  const rank = (test) =>
    distances.get(test) - (test === own ? 100 : dirname(test) === dirname(own) ? 0.5 : 0);
  return [...distances.keys()].filter((file) => file.endsWith('.test.ts')).sort((a, b) => rank(a) - rank(b));
}

/** Runs tests until one fails: its file, or null. */
function failedTest(tests) {
  if (tests.length === 0) return null;
  const report = join(copy, 'report.json');
  rmSync(report, { force: true });
  const reporting = ['--reporter=json', `--outputFile=${report}`];
  const options = { cwd: copy, timeout: BATCH_LIMIT_MS, killSignal: 'SIGKILL' };
  const { status } = spawnSync('npx', ['vitest', 'run', '--bail', '1', ...tests, ...reporting], options);
  if (status === 0) return null;
  try {
    const { testResults } = JSON.parse(readFileSync(report, 'utf8'));
    const failed = testResults.find((file) => file.status === 'failed');
    return failed === undefined ? 'an error outside of tests' : failed.name.slice(copy.length + 1);
  } catch {
    return `no end (${tests[0]} …)`;
  }
}

/** Who imports each file. */
function importersOf(paths) {
  const found = new Map();
  for (const path of paths)
    for (const [, target] of readFileSync(path, 'utf8').matchAll(/from '(\.[^']+\.ts)'/g)) {
      const imported = join(dirname(path), target);
      found.set(imported, [...(found.get(imported) ?? []), path]);
    }
  return found;
}

/** mulberry32: numbers from 0 to 1 that follow from a seed. */
function createRandom(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
