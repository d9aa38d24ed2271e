import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createSite, run } from '../cli/binary.ts';
import { createWorld } from '../sync/world.ts';

/** Names as files are given them, and the keys they get where those are others. */
const NAMES: readonly (readonly [what: string, name: string, key?: string])[] = [
  ['255 bytes', 'a'.repeat(255)],
  ['255 bytes of two-byte characters', `${'\u00e9'.repeat(127)}x`],
  ['255 bytes of four-byte characters', `${'\u{1f600}'.repeat(63)}xyz`],
  ['255 bytes, fewer in its key', 'e\u0301'.repeat(85), '\u00e9'.repeat(85)],
  ['a line break', 'one\ntwo'],
  ['a carriage return and a tab', 'one\r\ttwo'],
  ['quotes', `"one" 'two' \`three\``],
  ['a leading dash', '-rf'],
  ['an escaped slash', 'a%2Fb'],
  ['half an escape', '100%'],
  ['a dollar and braces', '${HOME}{a,b}*?[c]!'],
  ['an escape sequence', '\u001b[31mred\u001b]0;title\u0007'],
  ['a delete and a C1 control', 'a\u007f\u009b31mb'],
  ['marks that turn the direction', 'invoice\u202efdp.exe\u2066x\u2069'],
  ['line separators of Unicode', 'a\u2028b\u2029c'],
  ['a byte order mark', '\ufeffa'],
  ['a zero width joiner', 'a\u200db'],
  ['spaces around', ' a '],
  ['a dot at its end', 'a.'],
  ['three dots', '...'],
  ['a question mark and a hash', 'a?b=c#d'],
  ['a colon', 'C:'],
  ['a plus', 'a+b&c'],
  ['upper case', 'README'],
  ['lower case', 'readme'],
  ['a letter that folds to two', 'stra\u00dfe'],
  ['what it folds to', 'strasse'],
  ['a ligature, which NFC leaves alone', '\ufb01le'],
  ['the word of an object', '__proto__'],
];

test('every name that a file system takes is sent under its own key, and is not sent again', async () => {
  const world = await createWorld();
  for (const [what, name] of NAMES) world.write(`docs/${name}`, what);
  const first = await world.pass();
  expect(first).toMatchObject({ exitCode: 0, summary: { uploaded: NAMES.length, problems: 0 } });
  expect(world.keys().sort()).toEqual(NAMES.map(([, name, key = name]) => key).sort());
  for (const [what, name, key = name] of NAMES) expect([key, world.remote(key)]).toEqual([key, what]);
  expect(await world.pass()).toMatchObject({ requests: 0, summary: { unchanged: NAMES.length } });
});

test('directories of such names, as deep as a path may be', async () => {
  const world = await createWorld();
  const root = join(world.directory, 'docs');
  const deepest = `${'d'.repeat(250)}/`
    .repeat(15)
    .slice(0, 4095 - Buffer.byteLength(root) - 3)
    .replace(/\/$/u, '');
  world.write(`docs/${deepest}/f`, 'deep');
  for (const [what, name] of NAMES) world.write(`docs/in/${name}/${name}`, what);
  expect(await world.pass()).toMatchObject({ exitCode: 0, summary: { uploaded: NAMES.length + 1 } });
  expect(world.remote(`${deepest}/f`)).toBe('deep');
  expect(await world.pass()).toMatchObject({ requests: 0, exitCode: 0 });
});

test('what lies deeper than a path can say is a problem, removes nothing, and holds nothing up', async () => {
  const world = await createWorld({ removals: { mode: 'expire' } });
  const half = `${'d'.repeat(200)}/`.repeat(11);
  world.write(`docs/near/${half}f`, 'near');
  world.write('docs/z', 'z');
  expect(await world.pass()).toMatchObject({ exitCode: 0, summary: { uploaded: 2 } });
  // A directory can be moved to where no path leads.
  world.write(`docs/far/${half}g`, 'far');
  renameSync(join(world.directory, 'docs/near'), join(world.directory, 'docs/far', half, 'near'));
  const outcome = await world.pass();
  // Nobody could remove it from there.
  renameSync(join(world.directory, 'docs/far', half, 'near'), join(world.directory, 'docs/near'));
  expect(outcome).toMatchObject({ exitCode: 3, summary: { uploaded: 1, removed: 0 } });
  expect(outcome.events.find(({ kind }) => kind === 'problem')?.reason).toContain('ENAMETOOLONG');
  expect([world.remote(`near/${half}f`), world.remote('z')]).toEqual(['near', 'z']);
});

test('twins by case are two files; twins by form are one, and the other is a problem', async () => {
  const world = await createWorld();
  for (const name of ['Note.md', 'note.md', 'NOTE.md', 'caf\u00e9', 'cafe\u0301', 'CAFE\u0301'])
    world.write(`docs/${name}`, name);
  const outcome = await world.pass();
  expect(outcome).toMatchObject({ exitCode: 3, summary: { uploaded: 5, problems: 1 } });
  expect(world.keys().sort()).toEqual(['CAF\u00c9', 'NOTE.md', 'Note.md', 'caf\u00e9', 'note.md'].sort());
  expect(world.remote('caf\u00e9')).toBe('cafe\u0301');
});

describe.skipIf(process.platform === 'darwin')('names that are not valid UTF-8', () => {
  const BAD = [
    [0xff],
    [0x61, 0x80],
    [0xc3, 0x28],
    [0xed, 0xa0, 0x80],
    [0xf5, 0x80, 0x80, 0x80],
    [0xc0, 0xaf],
  ];

  test('are problems by their bytes, as files and as directories, and hide nothing beside them', async () => {
    const world = await createWorld({ removals: { mode: 'expire' } });
    world.write('docs/fine', 'x');
    world.write('docs/\ufffd', 'a genuine one');
    for (const [n, bytes] of BAD.entries()) {
      const whole = Buffer.concat([Buffer.from(join(world.directory, 'docs/')), Buffer.from(bytes)]);
      if (n % 2 === 0) writeFileSync(whole, 'y');
      else {
        mkdirSync(whole);
        writeFileSync(Buffer.concat([whole, Buffer.from('/inner')]), 'y');
      }
    }
    const outcome = await world.pass();
    expect(outcome).toMatchObject({ exitCode: 3, summary: { uploaded: 2, problems: BAD.length } });
    expect(world.keys().sort()).toEqual(['fine', '\ufffd']);
    const told = outcome.events.filter(({ kind }) => kind === 'problem').map(({ path }) => path);
    expect(told).toContain('a\\x80');
    expect(told.every((path) => /^[\u0020-\u007e]+$/u.test(path))).toBe(true);
  });
});

/** What could command a terminal, or reorder what it shows. */
const COMMANDS_A_TERMINAL =
  /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;

test('whatever prints a name escapes it: results for people and programs, and the log', async () => {
  const site = await createSite({ upload: { attempts: 1 } });
  for (const [what, name] of NAMES) site.write(`docs/${name}`, what);
  site.emulator.faults.add({ operation: 'upsert', kind: 'status', status: 400, times: Infinity });
  const strange = join('docs', 'a\u007f\u009b31mb');
  const turned = join('docs', 'invoice\u202efdp.exe\u2066x\u2069');
  const commands = [
    ['sync', '--dry-run'],
    ['sync', '--dry-run', '--json'],
    ['sync', '--once', '--log-format', 'pretty'],
    ['sync', '--once', '--json', '--log-format', 'json', '--force'],
    ['status'],
    ['status', '--json'],
    ['explain', strange],
    ['explain', turned, '--json'],
  ];
  for (const args of commands) {
    const { stdout, stderr } = await run(site.directory, args, site.env);
    const raw = COMMANDS_A_TERMINAL.exec(stdout + stderr);
    expect([
      args.join(' '),
      raw && (stdout + stderr).slice(Math.max(0, raw.index - 40), raw.index + 40),
    ]).toEqual([args.join(' '), null]);
    // A name with a line break does not begin a line of its own.
    expect(`${stdout}\n${stderr}`).not.toMatch(/^two/mu);
  }
});
