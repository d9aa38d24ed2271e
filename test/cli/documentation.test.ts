import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { createChatSite } from './chat-site.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const page = readFileSync(join(ROOT, 'docs/COMMANDS.md'), 'utf8');

/** The examples of the page in their order: a command, and what it is said to print. */
const examples = [...page.matchAll(/```console\n(.*?)```/gsu)].flatMap(([, block = '']) =>
  block
    .split(/^\$ /mu)
    .slice(1)
    .map((text) => {
      const [command = '', ...output] = text.split('\n');
      return { command, output: output.join('\n').trim() };
    }),
);

/** `…` stands for anything, also for several lines where it is a line of its own. */
function asPattern(output: string): RegExp {
  const escaped = output.replaceAll(/[\\^$.*+?()[\]{}|]/gu, '\\$&');
  const pattern = escaped.replaceAll(/^…$/gmu, '[^]*?').replaceAll('…', '.*');
  return new RegExp(`^${pattern}$`, 'u');
}

test('the examples of docs/COMMANDS.md print what the page says', async () => {
  expect(examples.length).toBeGreaterThan(10);
  const site = await createChatSite({
    bots: [
      { id: 'bot-1', name: 'Velo rentals' },
      { id: 'bot-2', name: '名前🚲' },
    ],
  });
  site.write('docs/a.md', 'alpha\n');
  mkdirSync(join(site.directory, 'bin'));
  symlinkSync(join(ROOT, 'dist/cli/main.js'), join(site.directory, 'bin/botsync'));
  const env = {
    ...process.env,
    ...site.env,
    PATH: `${join(site.directory, 'bin')}:${process.env['PATH'] ?? ''}`,
  };
  let conversation = 'none yet';
  for (const { command, output } of examples) {
    const line = `${command.replace('CONVERSATION', conversation)} 2>&1`;
    const printed = await new Promise<string>((fulfil) => {
      execFile('bash', ['-c', line], { cwd: site.directory, env }, (_, stdout) => {
        fulfil(stdout.trim());
      });
    });
    expect(printed, command).toMatch(asPattern(output));
    conversation = /\bconv_\w+/u.exec(printed)?.[0] ?? conversation;
  }
});
