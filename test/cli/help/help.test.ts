import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { commandCatalog } from '../../../src/cli/command-line.ts';
import { checkWords, reworded } from '../../../src/cli/help/check-words.ts';
import type { Command } from '../../../src/cli/help/command-catalog.ts';
import { followWords, hasOption, valueOf } from '../../../src/cli/help/follow-words.ts';
import { helpText } from '../../../src/cli/help/help-text.ts';
import { manPage } from '../../../src/cli/help/man-page.ts';
import { EXIT } from '../../../src/domain/exit-code.ts';
import { UsageError } from '../../../src/cli/usage-error.ts';
import { makeTemporaryDirectory } from '../../temporary-directory.ts';

const ROOT = resolve(import.meta.dirname, '../../..');
const CATALOG = commandCatalog();
const COMMANDS = all(CATALOG);
const LEAVES = COMMANDS.filter(({ path, commands }) => path.length > 0 && commands.length === 0);

function all(command: Command): Command[] {
  return [command, ...command.commands.flatMap(all)];
}

function called({ path }: Command): string {
  return ['botsync', ...path].join(' ');
}

function named(...path: string[]): Command {
  return followWords(path, CATALOG).command;
}

test('every command is in the catalog, with what was declared', () => {
  expect(LEAVES.map(called)).toEqual(
    expect.arrayContaining([
      'botsync sync',
      'botsync conversation create',
      'botsync message send',
      'botsync help',
    ]),
  );
  const sync = named('sync');
  expect(sync.options.find(({ name }) => name === 'force')).toMatchObject({
    value: 'optional',
    isMany: false,
  });
  expect(sync.options.find(({ name }) => name === 'wait')).toMatchObject({ value: 'required' });
  expect(sync.options.find(({ name }) => name === 'once')).toMatchObject({ value: 'none', byDefault: null });
  expect(named('explain').positionals).toMatchObject([{ name: 'path', isRequired: true }]);
  expect(named('integration').positionals.map(({ name }) => name)).toEqual(['name', 'range']);
});

test.each(LEAVES.map((command) => [called(command), command] as const))(
  'the help of %s: its own options first, then the global ones, an example, the documentation last',
  (name, command) => {
    expect(command.examples).not.toEqual([]);
    for (const example of command.examples) expect(example.command).toMatch(new RegExp(`^${name}( |$)`, 'u'));
    const text = helpText(command, CATALOG, 80);
    const titles = [...text.matchAll(/^([A-Z][a-z ]+):$|^(Documentation): /gmu)].map(
      ([, title, last]) => title ?? last,
    );
    const own = [
      ...(command.positionals.length > 0 ? ['Arguments'] : []),
      ...(command.options.length > 0 ? ['Options'] : []),
    ];
    expect(text).toMatch(new RegExp(`^${name} .*\\[options\\]`, 'u'));
    expect(titles).toEqual([...own, 'Global options', 'Examples', 'Documentation']);
    for (const option of [...command.options, ...CATALOG.options]) expect(text).toContain(`--${option.name}`);
    const lines = text.split('\n').filter((line) => !/^ {2}botsync|^Documentation/u.test(line));
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
    expect(lines.filter((line) => line.endsWith(' '))).toEqual([]);
  },
);

test('the help of all commands together names each with its description', () => {
  const text = helpText(CATALOG, CATALOG, 100);
  for (const { path, description } of CATALOG.commands) {
    expect(text).toMatch(new RegExp(`^ {2}${path.join(' ')}\\b`, 'mu'));
    expect(text).toContain(description.slice(0, 40));
  }
  expect(text.split('\n').at(-1)).toMatch(/^Documentation: /u);
});

test.each<[string[], string[], Record<string, string | null>, string[]]>([
  [['sync', '--once'], ['sync'], { once: null }, []],
  [['--json', 'sync'], ['sync'], { json: null }, []],
  [['-c', 'sync', 'status'], ['status'], { config: 'sync' }, []],
  [['-c=a', 'status'], ['status'], { config: 'a' }, []],
  [['-c./a', 'status'], ['status'], { config: './a' }, []],
  [['init', '-yc', 'a'], ['init'], { yes: null, config: 'a' }, []],
  [['sync', '--force', '--once'], ['sync'], { force: null, once: null }, []],
  [['sync', '--force', 'a b', '--once'], ['sync'], { force: 'a b', once: null }, []],
  [['sync', '--dryRun'], ['sync'], { 'dry-run': null }, []],
  [['sync', '--once', 'false'], ['sync'], { once: 'false' }, []],
  [['message', 'send', '--text', 'help'], ['message', 'send'], { text: 'help' }, []],
  [['message', 'send', '--payload', '-'], ['message', 'send'], { payload: '-' }, []],
  [['search', 'how', '--limit', '-5'], ['search'], { limit: '-5' }, ['how']],
  [['search', '--tag', 'a=1', 'b=2', '--json'], ['search'], { tag: 'b=2', json: null }, []],
  [['explain', '--', '--help'], ['explain'], {}, ['--help']],
  [['explain', 'sync'], ['explain'], {}, ['sync']],
])('where %j leads', (words, path, options, positionals) => {
  const place = followWords(words, CATALOG);
  expect(place.command.path).toEqual(path);
  expect(Object.fromEntries(Object.keys(options).map((name) => [name, valueOf(place, name)]))).toEqual(
    options,
  );
  expect(Object.keys(options).every((name) => hasOption(place, name))).toBe(true);
  expect(place.options).toHaveLength(Object.keys(options).length);
  expect(place.positionals).toEqual(positionals);
  expect(hasOption(place, 'help')).toBe(false);
});

test.each([
  [['sinc'], 'Unknown command: sinc. Did you mean sync?\nSee botsync --help.'],
  [['frobnicate'], 'Unknown command: frobnicate\nSee botsync --help.'],
  [['sinc', '--onse'], 'Unknown command: sinc. Did you mean sync?\nSee botsync --help.'],
  [
    ['conversation', 'creat'],
    'Unknown command: conversation creat. Did you mean create?\nSee botsync conversation --help.',
  ],
  [['sync', '--onse'], 'Unknown option: --onse. Did you mean --once?\nSee botsync sync --help.'],
  [['sync', '--onec'], 'Unknown option: --onec. Did you mean --once?\nSee botsync sync --help.'],
  [['snyc'], 'Unknown command: snyc. Did you mean sync?\nSee botsync --help.'],
  [['sync', '--onse=1'], 'Unknown option: --onse. Did you mean --once?\nSee botsync sync --help.'],
  [['--onse', 'sync'], 'Unknown option: --onse. Did you mean --once?\nSee botsync sync --help.'],
  [['sync', '-once'], 'Unknown option: -once. Did you mean --once?\nSee botsync sync --help.'],
  [['sync', '-dry-run'], 'Unknown option: -dry-run. Did you mean --dry-run?\nSee botsync sync --help.'],
  [['status', '-config=a'], 'Unknown option: -config. Did you mean --config?\nSee botsync status --help.'],
  [['status', '-x'], 'Unknown option: -x\nSee botsync status --help.'],
  [['status', '--once'], 'Unknown option: --once\nSee botsync status --help.'],
  [['sync', '--a', '--b', '--a'], 'Unknown option: --a\nUnknown option: --b\nSee botsync sync --help.'],
])('%j is refused: %s', async (words, message) => {
  await expect(checkWords(followWords(words, CATALOG))).rejects.toThrow(new UsageError(message));
});

test.each([
  [['sync', '--once', '--dryRun', '-c', 'a']],
  [['init', '-y']],
  [['message', 'send', '--text', '--', '--onse']],
  [['explain', '--', '--onse']],
  [[]],
])('%j is left to yargs', async (words) => {
  await expect(checkWords(followWords(words, CATALOG))).resolves.toBeUndefined();
});

test.each([
  [['explain'], 'Not enough non-option arguments: got 0, need at least 1', 'botsync explain takes <path>'],
  [['status', 'a'], 'Unknown argument: a', 'Unexpected argument: a'],
  [['sync', '--wait'], 'Not enough arguments following: wait', '--wait takes a value'],
  [['sync', '-c'], 'Not enough arguments following: c', '-c takes a value'],
  [['conversation', 'create'], 'Missing required argument: channel', '--channel is required'],
  [
    ['init', '--removals', 'x'],
    'Invalid values:\n  Argument: removals, Given: "x", Choices: "keep", "expire", "delete"',
    '--removals: "x" is not one of keep, expire, delete',
  ],
  [['sync'], 'anything else', 'anything else'],
])('what yargs says of %j is said in our words', (words, said, told) => {
  expect(reworded(said, followWords(words, CATALOG))).toBe(told);
});

const PAGE = manPage(CATALOG, { version: '1.2.3', homepage: 'https://example.com/docs' });

test('the man page has every command, option and example of the help, and every exit code', () => {
  const page = PAGE.replaceAll('\\-', '-').replaceAll('\\(aq', "'").replaceAll('\\e', '\\');
  for (const command of LEAVES) {
    expect(page).toContain(`\n.SS "${called(command)} `);
    for (const { name } of command.options) expect(page).toContain(`--${name}`);
    for (const example of command.examples) expect(page).toContain(`\n${example.command}\n`);
  }
  for (const code of Object.values(EXIT)) expect(page).toContain(`\n.TP\n.B "${code}"\n`);
  expect(page).toContain('\nhttps://example.com/docs\n');
  expect(page).toMatch(/^\.TH BOTSYNC 1 .*"botsync 1\.2\.3"/u);
});

test('the man page has no line that would be taken for a macro by mistake, and no letters that roff has no name for', () => {
  const macros = new Set(PAGE.split('\n').flatMap((line) => /^[.'](\S*)/u.exec(line)?.[1] ?? []));
  expect([...macros].sort()).toEqual(['B', 'EE', 'EX', 'PP', 'RE', 'RS', 'SH', 'SS', 'TH', 'TP', 'br']);
  expect(PAGE).toMatch(/^[\x00-\x7f]*$/u);
});

const TOOLS = [
  ['man', ['--warnings=all', '--local-file'], {}],
  ['mandoc', ['-T', 'utf8', '-W', 'error'], {}],
] as const;

test.each(TOOLS.filter(([tool]) => spawnSync(tool, ['-V']).error === undefined))(
  '%s shows the page, and has nothing to say of it',
  (tool, args) => {
    const file = join(makeTemporaryDirectory('man'), 'botsync.1');
    writeFileSync(file, PAGE);
    const env = { ...process.env, MANWIDTH: '80', MANPAGER: 'cat', LC_ALL: 'C.UTF-8' };
    const { status, stdout, stderr } = spawnSync(tool, [...args, file], { env, encoding: 'utf8' });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    const plain = stdout.replaceAll(/.\x08/gu, '');
    expect(plain).toContain('--allow-removals');
    expect(plain).toContain("botsync sync --once --force 'reports/**'");
  },
);

test('the package names the man page that the build writes', () => {
  const { man, files } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Record<
    'man' | 'files',
    string[]
  >;
  expect(man).toEqual(['dist/man/botsync.1']);
  expect(files).toContain('dist');
  expect(existsSync(join(ROOT, 'dist/man/botsync.1'))).toBe(true);
});
