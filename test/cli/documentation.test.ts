import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { run, runLines } from './binary.ts';
import { readPages } from '../docs/pages.ts';
import { createChatSite, type ChatSite } from './chat-site.ts';

const ROOT = resolve(import.meta.dirname, '../..');

/** A command, and what a page says that it prints. */
interface Example {
  readonly command: string;
  readonly output: string;
}

/** The examples of a page in their order. */
function examplesOf(name: string): Example[] {
  const page = readFileSync(join(ROOT, 'docs', name), 'utf8');
  return [...page.matchAll(/```console\n(.*?)```/gsu)].flatMap(([, block = '']) =>
    block
      .split(/^\$ /mu)
      .slice(1)
      .map((text) => {
        const [command = '', ...output] = text.split('\n');
        return { command, output: output.join('\n').trim() };
      }),
  );
}

/** How an example ended. */
interface Ended {
  readonly printed: string;
  readonly code: number;
}

/** What `doctor` says of Node depends on the version and on the day. */
function withoutAge(printed: string): string {
  return printed.replace(/^(?:ok|warn) +node  .*\n/u, '');
}

/** Characters that only a shell understands. */
const OF_SHELL = /[|&;<>$`\\*?"]/u;

/** Runs commands as they stand on a page: in a shell with `botsync` in its path where that makes a difference. */
function shellIn(site: ChatSite): (command: string) => Promise<Ended> {
  mkdirSync(join(site.directory, 'bin'));
  symlinkSync(join(ROOT, 'dist/cli/main.js'), join(site.directory, 'bin/botsync'));
  const path = `${join(site.directory, 'bin')}:${process.env['PATH'] ?? ''}`;
  const env = { ...process.env, ...site.env, PATH: path };
  const inShell = (command: string): Promise<Ended> =>
    new Promise((fulfil) => {
      execFile('bash', ['-c', `${command} 2>&1`], { cwd: site.directory, env }, (error, stdout) => {
        fulfil({ printed: stdout.trim(), code: typeof error?.code === 'number' ? error.code : 0 });
      });
    });
  return async (command) => {
    const [program, ...args] = wordsOf(command);
    if (program !== 'botsync' || OF_SHELL.test(command.replaceAll(/'[^']*'/gu, '')))
      return await inShell(command);
    const { stdout, stderr, code } = await run(site.directory, args, site.env);
    return { printed: (stderr + stdout).trim(), code: code ?? 0 };
  };
}

/** The words of a command line, without quotes around them. */
function wordsOf(command: string): string[] {
  return [...command.matchAll(/'([^']*)'|\S+/gu)].map(([word, quoted]) => quoted ?? word);
}

/** `…` stands for anything, also for several lines where it is a line of its own. */
function asPattern(output: string): RegExp {
  const escaped = output.replaceAll(/[\\^$.*+?()[\]{}|]/gu, '\\$&');
  const pattern = escaped.replaceAll(/^…$/gmu, '[^]*?').replaceAll('…', '.*');
  return new RegExp(`^${pattern}$`, 'u');
}

test(
  'the examples of docs/COMMANDS.md and docs/JSON.md print what the pages say',
  { timeout: 90_000 },
  async () => {
    const examples = [...examplesOf('COMMANDS.md'), ...examplesOf('JSON.md')];
    expect(examples.length).toBeGreaterThan(20);
    const site = await createChatSite({
      bots: [
        { id: 'bot-1', name: 'Velo rentals' },
        { id: 'bot-2', name: '名前🚲' },
      ],
    });
    site.write('docs/a.md', 'alpha\n');
    const runs = shellIn(site);
    let conversation = 'none yet';
    for (const { command, output } of examples) {
      const { printed } = await runs(command.replace('CONVERSATION', conversation));
      expect(withoutAge(printed), command).toMatch(asPattern(output));
      conversation = /\bconv_\w+/u.exec(printed)?.[0] ?? conversation;
    }
  },
);

/** Commands that the page on trouble shows. */
const LED_THROUGH = ['explain', 'status', 'ls', 'passages', 'search', 'verify', 'sync', 'doctor'];

test('the examples of docs/TROUBLESHOOTING.md print what the page says', { timeout: 90_000 }, async () => {
  const examples = examplesOf('TROUBLESHOOTING.md');
  const names = new Set(examples.map(({ command }) => command.split(' ')[1]));
  expect([...names].sort()).toEqual([...LED_THROUGH].sort());
  const site = await createChatSite({ bots: [{ id: 'bot-1', name: 'Velo rentals' }] });
  site.configure({}, { rules: [{ match: ['*.md'], index: true }] });
  site.write('docs/prices.md', '# Prices\n\nA pony costs 12 euros. Pay by card.\n');
  site.write('docs/notes.txt', 'Not for the bot.\n');
  site.write('docs/prices.md~', 'An older one.\n');
  expect((await site.sync()).code).toBe(0);
  const runs = shellIn(site);
  for (const { command, output } of examples) {
    const { printed, code } = await runs(command);
    expect(withoutAge(printed), command).toMatch(asPattern(output));
    // What stands for anything would also match a complaint.
    expect(code, command).toBe(command.includes('/etc/hosts') ? 2 : 0);
  }
});

/** Commands as pages name them: in `sh` and `console` blocks, and in a line. */
function namedCommands(text: string): string[] {
  const blocks = [...text.matchAll(/^ *```(?:sh|console)\n(.*?)^ *```$/gmsu)].map(([, block = '']) => block);
  const inLine = [...text.matchAll(/`(botsync [^`\n]+)`/gu)].map(([, code = '']) => code);
  return [...blocks.flatMap((block) => block.split('\n')), ...inLine].flatMap((line) =>
    // Not what a comment says, nor a user or a unit of this name.
    [...line.replace(/(?:^|\s)#.*$/u, '').matchAll(/(?:^|\$ |-- |[;&|] |\\?\s)(botsync [a-z][^;&|]*)/gu)].map(
      ([, command = '']) => command,
    ),
  );
}

/** Commands as messages name them: after "run:" and the like, and at the start of an indented line. */
function commandsInMessages(code: string): string[] {
  return [...code.matchAll(/(?:\b(?:run|Try|with): |['`] {2,})(botsync [a-z]+(?: [a-z]+)?)/gu)].map(
    ([, command = '']) => command,
  );
}

/** Pages and source files, with the commands that they name. */
function readPlaces(): { path: string; commands: string[] }[] {
  const pages = readPages().filter((page) => page.path !== 'CHANGELOG.md');
  const sources = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' });
  return [
    ...pages.map(({ path, text }) => ({ path, commands: namedCommands(text) })),
    ...sources
      .filter((path) => path.endsWith('.ts'))
      .map((path) => ({ path, commands: commandsInMessages(readFileSync(join(ROOT, 'src', path), 'utf8')) })),
  ];
}

test('what pages and messages name is a command, with its options', { timeout: 90_000 }, async () => {
  const all = readPlaces().flatMap(({ path, commands: named }) =>
    named.map((line) => {
      const [, command = '', rest = ''] =
        /^(?:botsync )?botsync ((?:cluster|conversation|message) [a-z]+|[a-z]+)(.*)$/u.exec(line) ?? [];
      return { command, rest, where: `${path}: ${line}` };
    }),
  );
  const commands = [...new Set(all.map(({ command }) => command))];
  const outcomes = await runLines(
    ROOT,
    commands.map((command) => [...command.split(' '), '--help']),
  );
  const helps = new Map(commands.map((command, line) => [command, outcomes[line]?.stdout ?? '']));
  for (const { command, rest, where } of all) {
    const help = helps.get(command);
    expect(help, where).toMatch(new RegExp(`^\\S+ ${command}\\b`, 'u'));
    for (const [option] of rest.matchAll(/(?<![\w-])--[a-z][a-z-]*/gu))
      expect(help?.replace(' --wait ', ' --wait --no-wait '), where).toContain(option);
  }
  expect(helps.size).toBeGreaterThan(12);
});
