import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { BINARY, createSite, run, temporaryDirectory } from './binary.ts';

/** What bash makes of words by the printed script, the last being typed: a line for each. */
function completeInBash(lines: readonly (readonly string[])[]): string[] {
  const directory = temporaryDirectory();
  mkdirSync(join(directory, 'bin'));
  symlinkSync(BINARY, join(directory, 'bin/botsync'));
  const script = `
    eval "$(botsync completion)"
    [[ "$(complete -p botsync)" =~ -F\\ ([a-z_]+) ]]
    function=\${BASH_REMATCH[1]}
    answer() {
      COMP_WORDS=(botsync "$@") COMP_CWORD=$# COMPREPLY=()
      "$function" botsync
      echo "\${COMPREPLY[*]}"
    }
    ${lines.map((words) => `answer ${words.map((word) => `'${word}'`).join(' ')}`).join('\n')}`;
  writeFileSync(join(directory, 'script.sh'), script);
  const PATH = `${join(directory, 'bin')}:${process.env['PATH'] ?? ''}`;
  const env = { ...process.env, PATH, SHELL: '/bin/bash' };
  // A message on standard error would garble the line that is being typed.
  const both = execFileSync('bash', ['-c', 'bash script.sh 2>&1'], { cwd: directory, env, encoding: 'utf8' });
  return both.trimEnd().split('\n');
}

const LINES: readonly (readonly [words: string[], completed: RegExp])[] = [
  [[''], /^sync approve .* completion help$/u],
  [['integ'], /^integration$/u],
  [['cluster', ''], /^init status release$/u],
  [['sync', '--on'], /^--once$/u],
  [['sync', '--once', '--dr'], /^--dry-run$/u],
  [['message', 'send', '--au'], /^--audio-url$/u],
  [['sync', '--log-level', 'de'], /^debug$/u],
  [['init', '--removals', ''], /^keep expire delete$/u],
  // bash completes files where there is nothing else.
  [['sync', '-c', 'bot'], /^$/u],
  [['explain', 'docs/'], /^$/u],
  [['search', 'help', '--lim'], /^--limit$/u],
  // Mistakes.
  [['sync', '--wait', '--on'], /^--once$/u],
  [['sync', '--force', 'a', '--force', 'b', '--nonsense', '--us'], /^--usage$/u],
];

test('bash completes commands, options and choices by the script, and hears of no mistakes', () => {
  const completed = completeInBash([...LINES.map(([words]) => words), ['.']]);
  expect(completed).toHaveLength(LINES.length);
  for (const [line, [words, expected]] of LINES.entries())
    expect.soft(completed[line], words.join(' ')).toMatch(expected);
});

test('the script is for the shell that $SHELL names; zsh also gets descriptions', async () => {
  const directory = temporaryDirectory();
  const bash = await run(directory, ['completion'], { SHELL: '/bin/bash' });
  expect(bash).toMatchObject({ code: 0, stderr: '' });
  expect(bash.stdout).toContain('\ncomplete -o bashdefault -o default -F ');
  const zsh = await run(directory, ['completion'], { SHELL: '/usr/bin/zsh' });
  expect(zsh.stdout).toMatch(/^#compdef botsync\n.*\n +compdef \S+ botsync\n/su);
  const asked = await run(directory, ['--get-yargs-completions', 'botsync', 'sync', '--on'], {
    SHELL: '/usr/bin/zsh',
  });
  expect(asked.stdout).toContain('\n--once:One full pass, then exit\n');
  expect(await run(directory, ['completion', 'bash'])).toMatchObject({
    ...{ code: 2, stdout: '' },
    stderr: 'Unexpected argument: bash\nSee botsync completion --help.\n',
  });
});

test('a line that is completed is not carried out', async () => {
  const site = await createSite();
  site.write('docs/a.md', 'a');
  const words = ['sync', '--once', '--no-wait'];
  const asked = await run(site.directory, ['--get-yargs-completions', 'botsync', ...words, ''], site.env);
  expect(asked).toMatchObject({
    code: 0,
    stderr: '',
    stdout: expect.stringContaining('--dry-run\n') as string,
  });
  expect(site.emulator.requests).toEqual([]);
});
