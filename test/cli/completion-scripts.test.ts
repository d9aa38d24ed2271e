import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { run, temporaryDirectory } from './binary.ts';

/** A directory with botsync in `bin`, a configuration of two sources, and files to name. */
function site(): { directory: string; PATH: string } {
  const directory = temporaryDirectory();
  for (const name of ['bin', 'docs', 'other']) mkdirSync(join(directory, name));
  symlinkSync(resolve(import.meta.dirname, '../../dist/cli/main.js'), join(directory, 'bin/botsync'));
  const config = {
    platform: { botId: 'b', token: 'env:T' },
    sources: [{ directory: './docs' }, { directory: './other', keyPrefix: 'o/' }],
  };
  writeFileSync(join(directory, 'botsync.config.json'), JSON.stringify(config));
  writeFileSync(
    join(directory, 'second.json'),
    JSON.stringify({ ...config, sources: [{ directory: './third' }] }),
  );
  writeFileSync(join(directory, 'docs/prices.md'), '');
  return { directory, PATH: `${join(directory, 'bin')}:${process.env['PATH'] ?? ''}` };
}

test('the command answers in the form of each shell, with the sources of the configuration, and says nothing of mistakes', async () => {
  const { directory } = site();
  const ask = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await run(directory, ['--complete', ...args]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    return stdout;
  };
  expect(await ask('bash', 'approve', '')).toBe('words\ndocs\nother\n');
  expect(await ask('zsh', 'approve', 'o')).toBe(`words\nother:${directory}/other\n`);
  expect(await ask('fish', 'search', '--source=o')).toBe(`words\n--source=other\t${directory}/other\n`);
  expect(await ask('bash', 'approve', '-c', 'second.json', '')).toBe('words\nthird\n');
  expect(await ask('bash', 'approve', '-c', 'nowhere.json', '')).toBe('words\n');
  // bash takes an equals sign for a word of its own.
  expect(await ask('bash', 'sync', '--log-level', '=', 'de')).toBe('words\ndebug\n');
  expect(await ask('bash', 'sync', '--config', '=', 'de')).toBe('files\n');
});

test('the shell is the one of the environment where none is named, and one that is not known is refused', async () => {
  const directory = temporaryDirectory();
  const script = await run(directory, ['completion'], { SHELL: '/usr/bin/fish' });
  expect(script.stdout).toBe((await run(directory, ['completion', 'fish'])).stdout);
  expect((await run(directory, ['completion'], { SHELL: '/bin/tcsh' })).stdout).toContain(
    'complete -o bashdefault',
  );
  const refused = await run(directory, ['completion', 'tcsh']);
  expect(refused).toMatchObject({ code: 2, stdout: '' });
  expect(refused.stderr).toBe(
    'shell: "tcsh" is not one of bash, zsh, fish\nSee botsync completion --help.\n',
  );
});

function isInstalled(shell: string): boolean {
  return spawnSync(shell, ['-c', 'exit 0']).status === 0;
}

/** Lines with what they become when Tab is pressed at their end, in a shell without any configuration. */
const LINES = [
  ['botsync integ', 'botsync integration'],
  ['botsync sync --onc', 'botsync sync --once'],
  ['botsync approve oth', 'botsync approve other'],
  ['botsync -c sec', 'botsync -c second.json'],
  ['botsync sync --config=sec', 'botsync sync --config=second.json'],
  ['botsync explain docs/', 'botsync explain docs/prices.md'],
  ['botsync message send --text doc', 'botsync message send --text doc'],
] as const;

test.runIf(isInstalled('bash'))('bash completes by the script', () => {
  const { directory, PATH } = site();
  const script = `
    eval "$(botsync completion bash)"
    answer() {
      COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
      _botsync botsync
      printf '%s|' "\${COMPREPLY[@]}"
    }
    answer botsync integ
    answer botsync sync --onc
    answer botsync approve ''
    answer botsync sync --log-level = de
    answer botsync -c sec
    complete -p botsync`;
  const completed = execFileSync('bash', ['-c', script], {
    cwd: directory,
    env: { ...process.env, PATH },
    encoding: 'utf8',
  });
  // Where there are no candidates, bash completes files by itself.
  expect(completed).toBe(
    'integration|--once|docs|other|debug||complete -o bashdefault -o default -F _botsync botsync\n',
  );
});

test.runIf(isInstalled('zsh'))(
  'zsh completes by the script, though nobody started its completion system',
  () => {
    const { directory, PATH } = site();
    const script = `
    zmodload zsh/zpty
    zpty shell zsh -f -i
    zpty -w shell 'bindkey -e; PS1= PROMPT_EOL_MARK=; unsetopt beep; eval "$(botsync completion zsh)"'
    for line in "$@"; do
      # Tab, to the beginning, a command that prints the line, to the end, Enter.
      zpty -w -n shell "$line"$'\\t'$'\\x01'"print -r RESULT: "$'\\x05\\n'
      zpty -r -m shell out $'*\\nRESULT: *\\n*'
      print -r -- "\${\${out##*$'\\n'RESULT: }%%$'\\r'*}"
    done
    zpty -d shell`;
    writeFileSync(join(directory, 'lines.zsh'), script);
    const env = { ...process.env, PATH, HOME: directory, ZDOTDIR: directory, TERM: 'xterm' };
    const args = ['-f', 'lines.zsh', ...LINES.map(([line]) => line)];
    const completed = execFileSync('zsh', args, { cwd: directory, env, encoding: 'utf8', timeout: 25_000 });
    expect(completed.trimEnd().split('\n')).toEqual(LINES.map(([, line]) => line));
  },
);

test.runIf(isInstalled('fish'))('fish completes by the script', () => {
  const { directory, PATH } = site();
  const script = 'botsync completion fish | source; for line in $argv; complete -C $line; echo .; end';
  const args = ['--no-config', '-c', script, ...LINES.map(([line]) => line)];
  const env = { ...process.env, PATH, HOME: directory };
  const completed = execFileSync('fish', args, { cwd: directory, env, encoding: 'utf8' });
  const words = completed
    .split('.\n')
    .slice(0, -1)
    .map((text) => text.replace(/\t.*\n|\n/u, ''));
  const expected = LINES.map(([line, full]) => (line === full ? '' : (full.split(' ').at(-1) ?? '')));
  expect(words).toEqual(expected);
});
