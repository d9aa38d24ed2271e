import { expect, test } from 'vitest';
import { createSite, run, runLines, temporaryDirectory } from './binary.ts';
import { converse, hasTerminal } from './terminal.ts';

/** The help of every command, by its name. */
async function readHelps(): Promise<Map<string, string>> {
  const directory = temporaryDirectory();
  const helps = new Map<string, string>();
  let names = [''];
  while (names.length > 0) {
    const outcomes = await runLines(
      directory,
      names.map((name) => [...name.split(' ').filter(Boolean), '--help']),
    );
    for (const [line, name] of names.entries()) {
      expect(outcomes[line], name).toMatchObject({ code: 0, stderr: '' });
      helps.set(name, outcomes[line]?.stdout ?? '');
    }
    names = outcomes.flatMap(({ stdout }) => {
      const [, commands = ''] = /\nCommands:\n(.*?)\n\n/su.exec(stdout) ?? [];
      return [...commands.matchAll(/^ {2}botsync ([a-z]+(?: [a-z]+)?)(?= )/gmu)].map(([, name = '']) => name);
    });
  }
  return helps;
}

test('every command has its help: arguments and options of its own first, an example, the documentation last', async () => {
  const helps = await readHelps();
  expect([...helps.keys()]).toEqual(
    expect.arrayContaining([
      'sync',
      'explain',
      'conversation create',
      'cluster release',
      'completion',
      'help',
    ]),
  );
  for (const [name, help] of helps) {
    const titles = [...help.matchAll(/^([A-Z][a-z]+(?: options)?):(?=$| https?:)/gmu)].map(
      ([, title]) => title,
    );
    const group = /\nCommands:\n/u.test(help);
    expect
      .soft(titles, name)
      .toEqual([
        ...(group ? ['Commands'] : []),
        ...(/^botsync .*[[<]/u.test(help) && !group ? ['Arguments'] : []),
        ...['Options', 'Global options'],
        ...(group && name !== '' ? [] : ['Examples']),
        'Documentation',
      ]);
    expect.soft(help, name).toMatch(new RegExp(`^botsync${name && ` ${name}`}(?: [[<]|\n)`, 'u'));
    const lines = help.split('\n');
    expect
      .soft(
        lines.filter((line) => line.length > 100 || line.endsWith(' ')),
        name,
      )
      .toEqual([]);
    // Each option and argument has a description, which says what its value is; yargs would only say "[string]".
    expect.soft(help, name).not.toMatch(/\[(?:string|boolean|number|array|choices|default|required)\b/u);
    expect.soft(help, name).not.toMatch(/^ {2,6}-{1,2}[a-z-]+$/mu);
  }
  expect(helps.get('history')).toContain('How far back, such as 12h or 7d, up to 30 days (default: 24h');
});

test('help is asked for in several ways', async () => {
  const ways = [
    ['ls', '--help'],
    ['ls', '-h'],
    ['-h', 'ls'],
    ['ls', '--help=true'],
    ['help', 'ls'],
    ['ls', '--nonsense', '--help'],
  ];
  const outcomes = await runLines(temporaryDirectory(), ways, { LANG: 'de_DE.UTF-8', LC_ALL: 'de_DE.UTF-8' });
  const [first] = outcomes;
  expect(first?.stdout).toMatch(/^botsync ls \[glob\]\n\n.*\nArguments:\n {2}glob .*\nOptions:\n/su);
  for (const [line, way] of ways.entries()) {
    expect(outcomes[line], way.join(' ')).toMatchObject({ code: 0, stdout: first?.stdout, stderr: '' });
  }
});

test('help for a command that does not exist is refused as the command is', async () => {
  const names = [['sinc'], ['nope', 'nope'], ['cluster', 'statsu'], ['conversation', 'delete']];
  const outcomes = await runLines(
    temporaryDirectory(),
    names.flatMap((name) => [['help', ...name], name]),
  );
  for (const [at, name] of names.entries()) {
    const [asked, refused] = outcomes.slice(2 * at, 2 * at + 2);
    expect(asked, name.join(' ')).toMatchObject({ code: 2, stdout: '', stderr: refused?.stderr });
    expect(asked?.stderr, name.join(' ')).toMatch(/^Unknown command: /u);
  }
  const [known, more] = await runLines(temporaryDirectory(), [
    ['help', 'explain'],
    ['help', 'cluster', 'release'],
  ]);
  expect(known?.stdout).toMatch(/^botsync explain <path>\n/u);
  expect(more?.stdout).toMatch(/^botsync cluster release \[unit\]\n/u);
});

test('a word "help" is a word where a command takes words', async () => {
  const site = await createSite({ rules: [{ match: ['**'], index: true }] }, {}, 'auto');
  site.write('docs/a.md', 'Call us for help.\n');
  await site.sync();
  const found = await run(site.directory, ['search', 'help'], site.env);
  expect(found.stdout).toMatch(/^a\.md \(score .*\)\n {2}Call us for help\.\n/u);
  const listed = await run(site.directory, ['ls', 'help'], site.env);
  expect(listed).toMatchObject({ code: 0, stdout: '', stderr: 'no file matches help\n' });
  const escaped = await run(site.directory, ['explain', '--', '--help'], site.env);
  expect(escaped.stderr).toContain('./--help is not in any source');
});

test.runIf(hasTerminal).each([60, 80, 120])('help fits a terminal of %d columns', async (columns) => {
  const prefix = ['sh', '-c', `stty cols ${columns}; exec "$@"`, 'sh'];
  for (const command of [['message', 'send'], ['emulator']]) {
    const { screen } = await converse(temporaryDirectory(), [...command, '--help'], {}, [], prefix);
    const lines = screen.split('\r\n');
    const longest = Math.max(...lines.map(({ length }) => length));
    expect(longest).toBeLessThanOrEqual(columns);
    expect(longest).toBeGreaterThan(Math.min(columns, 100) - 15);
    // A command that is broken cannot be copied.
    const examples = lines
      .slice(lines.indexOf('Examples:') + 1, -2)
      .filter((line) => !line.startsWith('      '));
    if (columns >= 80) for (const line of examples) expect(line).toMatch(/^(?: {2}botsync .*)?$/u);
  }
});

test('the version is printed by itself, and with any command that is not meant', async () => {
  const lines = [['--version'], ['-v'], ['sync', '--version']];
  for (const { code, stdout } of await runLines(temporaryDirectory(), lines))
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/u) as string,
    });
});
