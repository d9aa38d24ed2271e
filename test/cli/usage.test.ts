import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createSite, run, runLines, temporaryDirectory } from './binary.ts';
import { launch } from './running-daemon.ts';

const MISTAKES: readonly (readonly [args: string[], message: RegExp])[] = [
  [['sync', '--once', '--no-such'], /^Unknown option: --no-such\nSee botsync sync --help\.\n$/u],
  [
    ['sync', '--onse=1', '--dry-rum'],
    /^Unknown option: --onse\. Did you mean --once\?\nUnknown option: --dry-rum\. /u,
  ],
  [['sync', '-once'], /^Unknown option: -once\. Did you mean --once\?\nSee botsync sync --help\.\n$/u],
  [['status', '-config=a'], /^Unknown option: -config\. Did you mean --config\?\n/u],
  [['status', '-x'], /^Unknown option: -x\nSee botsync status --help\.\n$/u],
  [['sinc'], /^Unknown command: sinc\. Did you mean sync\?\nSee botsync --help\.\n$/u],
  [['sinc', '--once', 'docs'], /^Unknown command: sinc\. Did you mean sync\?\n/u],
  [['frobnicate'], /^Unknown command: frobnicate\nSee botsync --help\.\n$/u],
  [
    ['cluster', 'statsu'],
    /^Unknown command: cluster statsu\. Did you mean status\?\nSee botsync cluster --help\.\n$/u,
  ],
  [['status', 'a'], /^Unexpected argument: a\nSee botsync status --help\.\n$/u],
  [['status', ''], /^Unexpected argument: ""\n/u],
  [['explain'], /^An argument is missing: botsync explain <path>\nSee botsync explain --help\.\n$/u],
  [['sync', '-v'], /^-v is for the version, without a command; /u],
  [['init', '-yh'], /^-h is for help; write it by itself\nSee botsync init --help\.\n$/u],
  [[], /^Keeps a chat bot's .*\nConfiguration: botsync\.config\.json: 1 source \(docs\), bot bot-1\n/u],
  [['--json'], /^\{"kind":"error","exitCode":2,"message":"Name a command\.\\nSee botsync --help\."\}\n$/u],
  [['sync', '--once', '--dry-run'], /only one of them/u],
  [['sync', '--allow-removals'], /--allow-removals needs --once/u],
  [['sync', '--force'], /--force needs --once/u],
  [['status', '-c', 'nowhere.json'], /nowhere\.json: file not found/u],
  [['explain', 'docs'], /^docs is not a file of a source; name a file in a source/u],
  [['explain', ''], /^an empty path is not a file of a source/u],
  [['explain', '/etc/hostname'], /is not in any source; the sources are:\n {2}docs:/u],
  [
    ['sync', '--once', '--log-level', 'loud', '--log-format', 'x'],
    /^--log-level: "loud" is not one of "trace", "debug", .*\n--log-format: "x" is not one of "auto", .*\nSee /u,
  ],
  [['sync', '--once', '--force', 'a', '--force', 'b'], /--force may be given once/u],
  [['status', '-c', 'a', '-c', 'b'], /^--config may be given once/u],
  [['-c'], /^-c takes a value\nSee botsync --help\.\n$/u],
  [['sync', '-c'], /^-c takes a value\nSee botsync sync --help\.\n$/u],
  [['sync', '--once', '--log-format'], /^--log-format takes a value/u],
  [['conversation', 'create', '--channel', 'x', '--tag'], /^--tag takes a value/u],
  [['message', 'send', '--conversation', 'c', '--text', '--emulator'], /^--text takes a value/u],
  [['sync', '--dry-run=yes'], /^--dry-run=yes: write --dry-run, without a value/u],
  [['sync', '--once=1'], /^--once=1: write --once/u],
  [['init', '-y=no'], /^-y=no: write -y/u],
  [['explain', '--', '-x'], /^\.\/-x is not in any source/u],
  [['emulator', '--port', '-1'], /^--port takes a number/u],
  [['emulator', '--file-quota', 'abc'], /take a number of bytes/u],
  [['emulator', '--vector-quota=-5'], /take a number of bytes/u],
  [['emulator', '--operations', 'some'], /--operations: "some" is not one of "all", "specified"/u],
  [['emulator', '--indexing-delay', '2'], /--indexing-delay: "2" is not a duration; add a unit/u],
  [['emulator', '--data', 'a', '--data', 'b'], /--data may be given once/u],
];

test('what is wrong is told, without a stack, and the command ends with 2', async () => {
  const site = await createSite();
  const lines = MISTAKES.map(([args]) => args);
  const outcomes = await runLines(site.directory, lines, site.env);
  expect(outcomes).toHaveLength(MISTAKES.length);
  for (const [line, [args, message]] of MISTAKES.entries()) {
    const what = args.join(' ');
    expect.soft(outcomes[line], what).toMatchObject({ code: 2, stdout: '' });
    expect.soft(outcomes[line]?.stderr, what).toMatch(message);
    expect.soft(outcomes[line]?.stderr, what).not.toMatch(/^ +at /mu);
  }
  // A process of its own ends with the same.
  const first = await run(site.directory, lines[0] as string[], site.env);
  expect(first).toMatchObject({ code: 2, stderr: outcomes[0]?.stderr });
});

test('without a command, what was found here and what comes next is told', async () => {
  const site = await createSite();
  const { directory, env } = site;
  const told = async (where = directory, ...args: string[]): Promise<string> => {
    const ended = await run(where, args, env);
    expect(ended).toMatchObject({ code: 2, stdout: '' });
    return ended.stderr;
  };
  expect(await told()).toMatch(
    /\nNo pass has ended yet\. Next:\n.* doctor +checks .*\n.* sync --once --emulator +tries .*\n.* sync --dry-run +shows /u,
  );
  await site.sync();
  const docs = join(directory, 'docs');
  expect(await told(docs)).toMatch(
    /\nConfiguration: \.\.\/botsync\.config\.json: 1 source .*\nNo service is running\. Next:\n.* status +shows .*\n.* sync +runs .*\nSee botsync --help\.\n$/u,
  );
  expect(await told(docs, '-c', '../botsync.config.json', '--emulator')).toMatch(
    / doctor --emulator +checks/u,
  );
  const daemon = await launch(site);
  expect(await told()).toMatch(/\nA service is running\. Next:\n.* status +shows .*\nSee /u);
  daemon.child.kill('SIGTERM');
  await daemon.ended;
  writeFileSync(join(docs, 'botsync.config.json'), '{ "sources": [], "more": 1 }');
  expect(await told(docs)).toMatch(
    /\nbotsync\.config\.json:1:14: sources: .*\nbotsync\.config\.json:1:\d+: more: /u,
  );
  writeFileSync(join(docs, 'botsync.config.jsonc'), '{}');
  expect(await told(docs)).toMatch(/docs has both botsync\.config\.json and botsync\.config\.jsonc/u);
  expect(await told(temporaryDirectory())).toMatch(
    /\nThere is no configuration here.*\n.* init +writes one\nSee /u,
  );
});

test('a switch may be told "true" or "false", and what follows "--" is a path', async () => {
  const site = await createSite();
  site.write('docs/-a', 'a');
  expect((await site.sync('--dry-run=false')).code).toBe(0);
  expect((await run(site.directory, ['sync', '--dry-run=true'], site.env)).stdout).toContain(
    'nothing was sent',
  );
  const explained = await run(
    join(site.directory, 'docs'),
    ['explain', '-c', '../botsync.config.json', '--', '-a'],
    site.env,
  );
  expect(explained).toMatchObject({ code: 0, stdout: expect.stringContaining('docs/-a') as string });
});

test('an empty $BOTSYNC_CONFIG is none', async () => {
  const site = await createSite();
  const outcome = await run(site.directory, ['sync', '--once'], { ...site.env, BOTSYNC_CONFIG: '' });
  expect(outcome.code).toBe(0);
});
