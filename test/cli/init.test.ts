import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { loadConfig } from '../../src/config/load-config.ts';
import { expectOk } from '../config/fixture.ts';
import { run, temporaryDirectory } from './binary.ts';
import { createChatSite } from './chat-site.ts';
import { converse, hasTerminal } from './terminal.ts';

const ENTER = '\r';
const DOWN = '\u001b[B';

const DOCUMENTS = ['*.md', '*.txt', '*.html', '*.htm', '*.pdf', '*.doc', '*.docx'];

/** The configuration that was written, which loads without error or warning. */
function written(directory: string, file = 'botsync.config.json') {
  const loaded = expectOk(loadConfig(join(directory, file)));
  expect(loaded.warnings).toEqual([]);
  return loaded.config;
}

describe('init without a terminal', () => {
  test('writes what the options say, with defaults for the rest, and tells the next command', async () => {
    const directory = temporaryDirectory();
    const outcome = await run(directory, ['init', '--bot', 'bot-1', '--directory', 'guides']);
    expect(outcome.code).toBe(0);
    expect(outcome.stderr).toBe(
      `warning: guides does not exist (the nearest directory that exists is ${directory}); create it before the first pass\n`,
    );
    expect(outcome.stdout).toMatch(/^botsync\.config\.json was written. Next:\n/u);
    expect(outcome.stdout).toMatch(/export BOTSYNC_TOKEN=…\n.* doctor\n.* sync --dry-run\n/u);
    const page = /Every field: (.*)\n$/u.exec(outcome.stdout)?.[1] ?? '';
    expect(readFileSync(page, 'utf8')).toContain('# Configuration');
    const { platform, sources, rules, removals } = written(directory);
    expect(removals.mode).toBe('keep');
    expect(platform).toMatchObject({
      ...{ baseUrl: 'https://api.botpress.cloud', chatUrl: 'https://chat.botpress.cloud' },
      ...{ botId: 'bot-1', workspaceId: null, token: { kind: 'env', name: 'BOTSYNC_TOKEN' } },
    });
    expect(sources).toMatchObject([
      { name: 'guides', directory: join(directory, 'guides'), keyPrefix: 'guides/', botId: 'bot-1' },
    ]);
    expect(rules.map(({ match, set }) => [match, set.index])).toEqual([
      [['**'], undefined],
      [DOCUMENTS, true],
    ]);
    const text = readFileSync(join(directory, 'botsync.config.json'), 'utf8');
    const schema = /"\$schema": "(.*)"/u.exec(text)?.[1] ?? '';
    // A colleague who has the directory has the schema as well.
    expect(schema).toBe('./botsync.config.schema.json');
    expect(JSON.parse(readFileSync(join(directory, schema), 'utf8'))).toHaveProperty(
      'title',
      'botsync configuration',
    );
    expect(statSync(join(directory, 'botsync.config.json')).mode & 0o777).toBe(0o644);
  });

  test('takes every answer as an option', async () => {
    const directory = temporaryDirectory();
    mkdirSync(join(directory, 'etc'));
    mkdirSync(join(directory, 'my "docs"'));
    const outcome = await run(directory, [
      ...['init', '-c', 'etc/b.json', '--bot', 'b', '--directory', 'my "docs"', '--key-prefix', ''],
      ...['--index', '*.md', '/faq/**', '--workspace', 'ws-1', '--token', 'file:secret', '--json'],
      ...['--base-url', 'https://api.example.com', '--chat-url', 'https://chat.example.com/x'],
      ...['--removals', 'expire'],
    ]);
    expect(outcome).toMatchObject({ code: 0, stderr: '' });
    expect(outcome.lines()).toEqual([{ file: join(directory, 'etc/b.json') }]);
    const { platform, sources, rules, removals } = written(directory, 'etc/b.json');
    expect(removals.mode).toBe('expire');
    expect(platform).toMatchObject({
      ...{ baseUrl: 'https://api.example.com', chatUrl: 'https://chat.example.com/x', workspaceId: 'ws-1' },
      token: { kind: 'file', path: join(directory, 'etc/secret') },
    });
    expect(sources).toMatchObject([{ directory: join(directory, 'my "docs"'), keyPrefix: '' }]);
    expect(rules[1]?.match).toEqual(['*.md', '/faq/**']);
  });

  test('with --emulator takes its bot, and a pass against it goes well', async () => {
    const directory = temporaryDirectory();
    mkdirSync(join(directory, 'docs'));
    writeFileSync(join(directory, 'docs/a.md'), 'alpha');
    const args = ['--emulator', '--no-index', '--directory', 'docs'];
    const outcome = await run(directory, ['init', ...args]);
    expect(outcome.stdout).toMatch(/ doctor --emulator\n.* sync --dry-run --emulator\n/u);
    expect(written(directory).rules).toHaveLength(1);
    expect(await run(directory, ['doctor', '--emulator'])).toMatchObject({ code: 0 });
    expect(await run(directory, ['sync', '--once', '--emulator'])).toMatchObject({ code: 0 });
  });

  test.each<[string[], RegExp]>([
    [[], /not a terminal, so nothing can be asked; add --bot ID and --directory DIR/u],
    [['--bot', 'b'], /not a terminal, so nothing can be asked; add --directory DIR/u],
    [['--directory', 'd', '--yes'], /add --bot ID/u],
    [['--bot', 'a', '--bot', 'b', '--directory', 'd'], /--bot may be given once/u],
    [['--bot', 'a b', '--directory', 'd'], /^--bot: contains a space/u],
    [['--bot', 'b', '--directory', '~/d'], /^--directory: "~" is not expanded/u],
    [['--bot', 'b', '--directory', 'd', '--token', 'bp_pat_123'], /^--token: .*never the token itself/u],
    [['--bot', 'b', '--directory', 'd', '--base-url', 'api'], /^--base-url: "api" is not an http/u],
    [['--bot', 'b', '--directory', 'd', '--index', 'x/'], /^--index: "x\/" matches no file/u],
    [['--bot', 'b', '--directory', 'd', '--index', 'x', '--no-index'], /either --index or --no-index/u],
    [
      ['--bot', 'b', '--directory', 'd', '--removals', 'erase'],
      /--removals: "erase" is not one of "keep", "expire", "delete"/u,
    ],
    [['--bot', 'b', '--directory', '/'], /has no name of its own/u],
    [['--bot', 'b', '--directory', '$HOME/d'], /^--directory: "\$HOME" is not expanded/u],
    [['--bot', 'b', '--directory', 'file'], /^--directory: file is not a directory; name the directory/u],
    [['--bot', '', '--directory', 'd'], /^--bot: is empty; write the id of the bot/u],
    [
      ['--bot', 'b', '--directory', 'd', '-c', 'bot.yaml'],
      /bot\.yaml: botsync does not read YAML; name a file/u,
    ],
    [['--bot', 'b', '--directory', 'd', '-c', '.'], /is a directory; .* --config botsync\.config\.json/u],
    [['--bot', 'b', '--directory', 'd', '-c', 'no/where.json'], /no does not exist; create it first/u],
  ])('%j is a mistake that is told, and nothing is written', async (args, message) => {
    const directory = temporaryDirectory();
    writeFileSync(join(directory, 'file'), '');
    const outcome = await run(directory, ['init', ...args]);
    expect(outcome).toMatchObject({ code: 2, stdout: '' });
    expect(outcome.stderr).toMatch(message);
    expect(existsSync(join(directory, 'botsync.config.json'))).toBe(false);
  });

  test('never writes over a configuration, unless told to', async () => {
    const directory = temporaryDirectory();
    const file = join(directory, 'botsync.config.json');
    writeFileSync(file, 'precious', { mode: 0o666 });
    const args = ['init', '--bot', 'b', '--directory', 'd'];
    const refused = await run(directory, args);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('--force');
    expect(readFileSync(file, 'utf8')).toBe('precious');
    expect(await run(directory, [...args, '--force'])).toMatchObject({ code: 0 });
    expect(written(directory).platform.botId).toBe('b');
  });
});

test('beside a local platform stands its chat, and beside a .jsonc nothing is written', async () => {
  const directory = temporaryDirectory();
  const args = ['init', '--bot', 'b', '--directory', '.', '--base-url', 'http://127.0.0.1:8787/'];
  writeFileSync(join(directory, 'botsync.config.jsonc'), '{}');
  const refused = await run(directory, [...args, '--force']);
  expect(refused).toMatchObject({ code: 2, stdout: '' });
  expect(refused.stderr).toContain('botsync.config.jsonc already exists');
  expect(await run(directory, [...args, '--force', '-c', 'botsync.config.jsonc'])).toMatchObject({ code: 0 });
  const { chatUrl, baseUrl } = written(directory, 'botsync.config.jsonc').platform;
  expect([baseUrl, chatUrl]).toEqual(['http://127.0.0.1:8787', 'http://127.0.0.1:8787/chat']);
  // What init wrote is no file of a source, the copy of the schema included.
  const planned = await run(directory, ['sync', '--dry-run', '--emulator', '--json']);
  expect(planned.lines()).toMatchObject([{ kind: 'summary', uploaded: 0 }]);
});

test('--bot is looked up in the workspace if the token is set: its name is written, and an unknown one is told', async () => {
  const { directory, emulator, env } = await createChatSite({
    bots: [
      { id: 'bot-1', name: 'One' },
      { id: 'bot-2', name: 'Two' },
    ],
  });
  const { baseUrl, workspaceId } = emulator;
  const file = join(directory, 'new.json');
  const init = (bot: string, workspace: string[], variables: Record<string, string>) =>
    run(
      directory,
      [
        'init',
        '-c',
        file,
        '--force',
        '--directory',
        'docs',
        '--base-url',
        baseUrl,
        '--bot',
        bot,
        ...workspace,
      ],
      variables,
    );
  const own = ['--workspace', workspaceId];
  expect(await init('bot-2', own, env)).toMatchObject({ code: 0, stderr: '' });
  expect(readFileSync(file, 'utf8')).toMatch(/\/\/ Two\n +"botId": "bot-2"/u);
  expect(await init('bot-3', own, env)).toMatchObject({
    code: 0,
    stderr: `warning: --bot bot-3 is not in the workspace ${workspaceId}, which has bot-1 (One), bot-2 (Two); correct "botId" or "workspaceId" in the file\n`,
  });
  expect(written(directory, 'new.json').platform.botId).toBe('bot-3');
  expect((await init('bot-3', own, { BOTSYNC_TOKEN: 'wrong' })).stderr).toMatch(
    /^The bots cannot be listed, so --bot was not checked: 401/u,
  );
  // Both may be set later.
  for (const [workspace, variables] of [
    [[], env],
    [own, {}],
    [[...own, '--emulator'], env],
  ] as const)
    expect(await init('bot-3', [...workspace], variables)).toMatchObject({ code: 0, stderr: '' });
});

describe.runIf(hasTerminal)('init on a terminal', () => {
  test('asks, offers the bots of the workspace, and writes the answers', async () => {
    const { directory, emulator, env } = await createChatSite({
      bots: [
        { id: 'bot-1', name: 'One' },
        { id: 'bot-2', name: '\u001b[31mTwo\n"botId": "x"' },
      ],
    });
    const file = join(directory, 'new.json');
    const { code, screen } = await converse(directory, ['init', '-c', file], env, [
      ['Address of the platform', emulator.baseUrl + ENTER],
      [`${emulator.baseUrl}/chat`, ENTER],
      ['Where the access token is stored', ENTER],
      ['Id of the workspace', emulator.workspaceId + ENTER],
      ['another one', DOWN],
      ['Two', ENTER],
      ['Directory to sync', `none${ENTER}`],
      ['name another directory', DOWN + ENTER],
      ['Directory to sync', `docs${ENTER}`],
      ['Prefix of the files', `kb/${ENTER}`],
      ['What the bot may search', ENTER],
      ['What happens on the platform', DOWN],
      ['emptied', DOWN + ENTER],
    ]);
    expect(screen).toContain('new.json was written. Next:');
    expect(screen).not.toContain('\u001b[31mTwo');
    expect(screen).not.toContain(emulator.token);
    expect(code).toBe(0);
    const { platform, sources, removals } = written(directory, 'new.json');
    expect(removals.mode).toBe('delete');
    expect(platform).toMatchObject({ botId: 'bot-2', workspaceId: emulator.workspaceId });
    expect(sources).toMatchObject([{ directory: join(directory, 'docs'), keyPrefix: 'kb/' }]);
  });

  test('asks for the id of the bot when the platform will not tell', async () => {
    const { directory, emulator, env } = await createChatSite();
    const args = ['init', '-c', 'new.json', '--base-url', emulator.baseUrl, '--workspace', 'wkspace_other'];
    const { screen } = await converse(directory, [...args, '--directory', 'docs', '--no-index'], env, [
      ['Address of the chat', ENTER],
      ['Where the access token is stored', ENTER],
      ['Id of the bot', `bot 7${ENTER}`],
      ['contains a space', `\u007f\u007f-7${ENTER}`],
      ['Prefix of the files', ENTER],
      ['What happens on the platform', ENTER],
    ]);
    expect(screen).toContain('The bots cannot be listed: 401');
    const { platform, removals } = written(directory, 'new.json');
    expect([platform.botId, removals.mode]).toEqual(['bot-7', 'keep']);
  });

  test('Ctrl-C writes nothing', async () => {
    const directory = temporaryDirectory();
    const { code, screen } = await converse(directory, ['init'], {}, [['Address of the platform', '\u0003']]);
    expect(code).toBe(130);
    expect(screen).toContain('nothing was changed');
    expect(existsSync(join(directory, 'botsync.config.json'))).toBe(false);
  });
});
