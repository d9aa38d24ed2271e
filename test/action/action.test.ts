import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { createSite, temporaryDirectory, type Site } from '../cli/binary.ts';

const ROOT = resolve(import.meta.dirname, '../..');

/** How a step of a workflow ended. */
interface Step {
  readonly code: number | null;
  /** All that the log of the step shows. */
  readonly log: string;
  readonly outputs: Record<string, string>;
  readonly page: string;
}

/** Runs the action as a runner does: inputs in the environment, outputs in files, the workspace as working directory. */
async function step(
  workspace: string,
  inputs: Record<string, string>,
  { root = ROOT, env = {} }: { root?: string; env?: Record<string, string> } = {},
): Promise<Step> {
  const runner = temporaryDirectory();
  const files = { GITHUB_OUTPUT: join(runner, 'output'), GITHUB_STEP_SUMMARY: join(runner, 'summary.md') };
  for (const file of Object.values(files)) writeFileSync(file, '');
  const given = Object.entries(inputs).map(([name, value]) => [`INPUT_${name.toUpperCase()}`, value]);
  const child = spawn(process.execPath, [join(root, 'action/main.js')], {
    cwd: workspace,
    env: {
      PATH: process.env['PATH'],
      HOME: process.env['HOME'],
      RUNNER_TEMP: runner,
      ...files,
      ...(Object.fromEntries(given) as Record<string, string>),
      ...env,
    },
  });
  let log = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (log += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (log += text));
  const code = await new Promise<number | null>((fulfil) => child.once('close', fulfil));
  const outputs = Object.fromEntries(
    readFileSync(files.GITHUB_OUTPUT, 'utf8')
      .trim()
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  );
  return { code, log, outputs, page: readFileSync(files.GITHUB_STEP_SUMMARY, 'utf8') };
}

/** A new checkout of the site's files: no state file, other times. */
function checkOut({ directory }: Site): string {
  const workspace = temporaryDirectory();
  for (const name of ['docs', 'botsync.config.json'])
    cpSync(join(directory, name), join(workspace, name), { recursive: true });
  return workspace;
}

const summaryOf = ({ outputs }: Step): Record<string, number> =>
  JSON.parse(outputs['summary'] ?? '') as Record<string, number>;

test('a runner without records sends what changed and nothing else', async () => {
  const site = await createSite({}, {}, 'auto');
  site.write('docs/a.md', 'one');
  site.write('docs/b.md', 'two');
  const token = site.emulator.token;
  const first = await step(checkOut(site), { config: 'botsync.config.json', token, arguments: '' });
  expect(first.code, first.log).toBe(0);
  expect(first.outputs).toMatchObject({ 'exit-code': '0', 'in-sync': 'true' });
  expect(summaryOf(first)).toMatchObject({ kind: 'summary', uploaded: 2 });
  expect(first.page).toContain(
    '### botsync: in sync\n\n| uploaded | unchanged |\n| --: | --: |\n| 2 | 0 |\n',
  );

  site.write('docs/b.md', 'changed');
  const second = await step(checkOut(site), { config: '', token, arguments: '--no-wait' });
  expect(second.code, second.log).toBe(0);
  expect(summaryOf(second)).toMatchObject({ uploaded: 1, adopted: 1 });
  for (const { log, page, outputs } of [first, second])
    expect(log + page + JSON.stringify(outputs)).not.toContain(token);
});

test('a dry run shows what would be sent, and sends nothing', async () => {
  const site = await createSite({}, {}, 'auto');
  site.write('docs/a.md', 'one');
  const inputs = { token: site.emulator.token, arguments: '--dry-run' };
  const dry = await step(checkOut(site), inputs);
  expect(dry.code, dry.log).toBe(0);
  expect(summaryOf(dry)).toMatchObject({ kind: 'summary', uploaded: 1 });
  expect(dry.page).toMatch(/^### botsync: dry run, nothing was sent\n\n\| uploaded \|/u);
  expect(site.emulator.readContent('bot-1', 'a.md')).toBeNull();
});

test('it runs in the directory that the workflow names, and refuses one that is not there', async () => {
  const site = await createSite({}, {}, 'auto');
  site.write('docs/a.md', 'one');
  const workspace = temporaryDirectory();
  cpSync(checkOut(site), join(workspace, 'bot'), { recursive: true });
  const inputs = { token: site.emulator.token, 'working-directory': 'bot' };
  const done = await step(workspace, inputs);
  expect(done.code, done.log).toBe(0);
  expect(summaryOf(done)).toMatchObject({ uploaded: 1 });
  const lost = await step(workspace, { ...inputs, 'working-directory': 'bots' });
  expect(lost.code).toBe(1);
  expect(lost.log).toContain('The input "working-directory" names no directory of the workspace: bots');
});

test('no name and no argument reaches a shell, the runner or the page as anything but text', async () => {
  const site = await createSite({ upload: { attempts: 1 } });
  const name = '`<img src=x>` @all [x](y)';
  site.write(`docs/${name}`, 'x');
  site.write('docs/::warning::taken', 'x');
  site.emulator.faults.add({
    operation: 'upsert',
    key: name,
    kind: 'status',
    status: 409,
    type: 'ResourceLockedConflict',
    message: '<b>busy</b> ::error::no',
  });
  const workspace = checkOut(site);
  const failed = await step(workspace, { token: site.emulator.token, arguments: '' });
  expect(failed.code, failed.log).toBe(3);
  expect(failed.outputs).toMatchObject({ 'exit-code': '3', 'in-sync': 'false' });
  expect(summaryOf(failed)).toMatchObject({ uploaded: 1, failed: 1 });
  expect(failed.page).toContain(`- \`\` docs/${name} \`\`: 409 ResourceLockedConflict`);
  expect(failed.page).not.toContain('<b>');
  // Between these lines the runner takes no commands; after them it does again.
  const [, end = ''] = /^::stop-commands::(\S+)\n/u.exec(failed.log) ?? [];
  expect(end).not.toBe('');
  const [within = '', after = ''] = failed.log.split(`\n::${end}::\n`);
  expect(within).toContain('::warning::taken');
  expect(after).toBe(
    '::error title=botsync::botsync ended with exit code 3: the log of this step says why\n',
  );

  const injected = await step(workspace, {
    token: site.emulator.token,
    arguments: '--dry-run $(touch taken) ; touch taken `touch taken`',
  });
  expect(injected.code).toBe(2);
  expect(injected.outputs).toMatchObject({ summary: '', 'exit-code': '2', 'in-sync': 'false' });
  expect(injected.page).toContain('There was no pass');
  expect(existsSync(join(workspace, 'taken'))).toBe(false);
});

test('inputs that cannot be used are told of before anything is run', async () => {
  const workspace = temporaryDirectory();
  const noToken = await step(workspace, { token: '' });
  expect(noToken).toMatchObject({ code: 1, outputs: {}, page: '' });
  expect(noToken.log).toBe(
    '::error title=botsync::The input "token" is empty: is the secret set, and may this workflow read it?\n',
  );
  const open = await step(workspace, { token: 'x', arguments: "--force 'a" });
  expect(open.code).toBe(1);
  expect(open.log).toContain('The input "arguments" cannot be read');
});

test('where nothing was built npm installs the version of the action, once a job, and never sees the token', async () => {
  const site = await createSite();
  site.write('docs/a.md', 'one');
  const root = temporaryDirectory();
  for (const name of ['action', 'package.json'])
    cpSync(join(ROOT, name), join(root, name), { recursive: true });
  const tools = temporaryDirectory();
  const [{ filename }] = JSON.parse(
    execFileSync('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', tools], {
      cwd: ROOT,
      encoding: 'utf8',
      stdio: 'pipe',
    }),
  ) as [{ filename: string }];
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
  // The registry has no such version before it is released: this npm takes it from the packed file.
  const npm = execFileSync('which', ['npm'], { encoding: 'utf8' }).trim();
  mkdirSync(join(tools, 'bin'));
  writeFileSync(
    join(tools, 'bin/npm'),
    `#!/bin/sh
env >>'${tools}/env'
echo "$@" >>'${tools}/calls'
for last; do :; done
test "$last" = 'botsync@${version}' || exit 1
exec '${npm}' "$@" --prefer-offline '${join(tools, filename)}'
`.replace('"$@" --prefer-offline', '"$1" "$2" "$3" "$4" "$5" "$6" "$7" --prefer-offline'),
  );
  chmodSync(join(tools, 'bin/npm'), 0o755);
  const env = {
    PATH: [join(tools, 'bin'), process.env['PATH'] ?? ''].join(delimiter),
    RUNNER_TEMP: temporaryDirectory(),
  };
  const token = site.emulator.token;
  for (const uploaded of [1, 0]) {
    const done = await step(site.directory, { token }, { root, env });
    expect(done.code, done.log).toBe(0);
    expect(summaryOf(done)).toMatchObject({ uploaded });
  }
  expect(readFileSync(join(tools, 'calls'), 'utf8').trim().split('\n')).toHaveLength(1);
  expect(readFileSync(join(tools, 'env'), 'utf8')).not.toContain(token);
}, 120_000);
