import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { run, temporaryDirectory } from './binary.ts';

const COMMANDS = ['sync', 'status', 'explain', 'emulator', 'bots', 'integration', 'conversation', 'message'];

test.each([
  ['bash', 'zsh', /^complete .* _botsync_yargs_completions botsync$/mu],
  ['zsh', 'bash', /^#compdef botsync$/mu],
])('completion %s prints its script, whatever the login shell', async (shell, login, line) => {
  const directory = temporaryDirectory();
  const named = await run(directory, ['completion', shell], { SHELL: `/bin/${login}` });
  expect(named).toMatchObject({ code: 0, stderr: '' });
  expect(named.stdout).toMatch(line);
  expect(named.stdout).toContain('botsync --get-yargs-completions');
  const guessed = await run(directory, ['completion'], { SHELL: `/bin/${shell}` });
  expect(guessed.stdout).toBe(named.stdout);
});

test('completion of another shell is refused', async () => {
  const outcome = await run(temporaryDirectory(), ['completion', 'fish']);
  expect(outcome).toMatchObject({ code: 2, stdout: '' });
  expect(outcome.stderr).toContain('Choices: "bash", "zsh"');
});

test.each<[string[], string[], string[]]>([
  [['botsync', ''], COMMANDS, ['create']],
  [['botsync', 'conversation', ''], ['create'], COMMANDS],
  [['botsync', 'sync', '--log-level', ''], ['trace', 'silent'], COMMANDS],
  [['botsync', 'message', 'send', '--'], ['--text', '--audio-url', '--payload', '--json'], COMMANDS],
  [['botsync', 'sync', '--force', 'a', '--force', 'b', '--'], ['--once'], COMMANDS],
])('completions of %j', async (words, expected, others) => {
  const bash = await run(temporaryDirectory(), ['--get-yargs-completions', ...words]);
  expect(bash).toMatchObject({ code: 0, stderr: '' });
  const offered = bash.stdout.trim().split('\n');
  expect(offered).toEqual(expect.arrayContaining(expected));
  for (const other of others) expect(offered).not.toContain(other);
});

test('zsh gets descriptions, and bash does not even below a login zsh', async () => {
  const ask = (env: Record<string, string>) =>
    run(temporaryDirectory(), ['--get-yargs-completions', 'botsync', ''], env);
  expect((await ask({ COMP_LINE: 'botsync ', SHELL: '/bin/bash' })).stdout).toMatch(/^bots:The bots/mu);
  expect((await ask({ SHELL: '/bin/zsh' })).stdout).toMatch(/^bots$/mu);
});

test('bash completes a command by the script', () => {
  const directory = temporaryDirectory();
  mkdirSync(join(directory, 'bin'));
  symlinkSync(resolve(import.meta.dirname, '../../dist/cli/main.js'), join(directory, 'bin/botsync'));
  const script = `
    eval "$(botsync completion bash)"
    COMP_WORDS=(botsync integ) COMP_CWORD=1
    _botsync_yargs_completions
    echo "\${COMPREPLY[@]}"`;
  const PATH = `${join(directory, 'bin')}:${process.env['PATH'] ?? ''}`;
  const completed = execFileSync('bash', ['-c', script], { env: { ...process.env, PATH }, encoding: 'utf8' });
  expect(completed).toBe('integration\n');
});
