import { linkSync, symlinkSync, unlinkSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { createWorld } from '../world.ts';

test('config, secrets and state file are not synced under another name either', async () => {
  const world = await createWorld({ sources: [{ directory: './docs', symlinks: 'follow' }] });
  world.configure({
    platform: { token: 'file:./conf/token' },
    service: { listen: '127.0.0.1:0', control: 'file:./conf/control' },
    cluster: { database: 'file:./conf/database' },
  });
  world.write('conf/token', 'very secret');
  world.write('conf/control', 'just as secret');
  world.write('conf/database', 'postgresql://me:secret@db/botsync');
  world.write('conf/note', 'n');
  world.write('botsync.config.json', '{}');
  symlinkSync('../conf', world.at('docs/linked'));
  symlinkSync('../botsync.config.json', world.at('docs/config'));
  linkSync(world.at('conf/token'), world.at('docs/hard'));
  await world.pass();
  symlinkSync('../.botsync', world.at('docs/state'));
  await world.pass();
  expect(world.keys()).toEqual(['linked/note']);
});

test('what the embedded emulator keeps is not synced, whatever the patterns say', async () => {
  const world = await createWorld({ sources: [{ directory: '.', ignore: ['!.botsync/', '!.botsync/**'] }] });
  world.write('a.md', 'a');
  world.write('.botsync/emulator/identity.json', '{}');
  world.write('.botsync/emulator/state.db', 'x');
  await world.pass();
  expect(world.keys()).toContain('a.md');
  expect(world.keys().filter((key) => key.startsWith('.botsync/emulator'))).toEqual([]);
});

test('a hard link to a secret is kept out where links are not followed, too', async () => {
  const world = await createWorld({ platform: { token: 'file:./conf/token' } });
  world.write('conf/token', 'very secret');
  world.write('docs/a', 'a');
  linkSync(world.at('conf/token'), world.at('docs/hard'));
  await world.pass();
  expect(world.keys()).toEqual(['a']);
});

test('a source that is reached by another name than its config keeps them out as well', async () => {
  const world = await createWorld();
  symlinkSync(world.directory, `${world.directory}-alias`);
  try {
    world.configure({
      platform: { token: 'file:./token' },
      sources: [{ name: 'all', directory: `${world.directory}-alias`, ignore: ['platform/', '!.botsync/'] }],
    });
    world.write('token', 'very secret');
    world.write('botsync.config.json', '{}');
    world.write('docs/a', 'a');
    await world.pass();
    await world.pass();
    expect(world.keys()).toEqual(['docs/a']);
  } finally {
    unlinkSync(`${world.directory}-alias`);
  }
});

test('.botsyncignore may begin with a byte order mark, and anything but a file is none', async () => {
  const world = await createWorld();
  world.write('docs/.botsyncignore', '\ufeffsecret.txt\r\n*.log\n');
  for (const name of ['secret.txt', 'a.log', 'a.md']) world.write(`docs/${name}`, 'x');
  await world.pass();
  expect(world.keys()).toEqual(['a.md']);
  world.remove('docs/.botsyncignore');
  world.makeDirectory('docs/.botsyncignore');
  expect(await world.pass()).toMatchObject({ exitCode: 0, summary: { uploaded: 2 } });
});

test('a FIFO instead of .botsyncignore is none and is not waited for', async () => {
  const world = await createWorld();
  world.makeDirectory('docs');
  execFileSync('mkfifo', [world.at('docs/.botsyncignore')]);
  world.write('docs/a', 'x');
  expect(await world.pass()).toMatchObject({ exitCode: 0, summary: { uploaded: 1 } });
});

test('a line of .botsyncignore that would take minutes for a deep path halts its source', async () => {
  const world = await createWorld();
  world.write(`docs/${'a/'.repeat(100)}x`, 'x');
  world.write('docs/.botsyncignore', '# a/**/b/**/c/**/d is a comment\n*.tmp\na/**/a/**/a/**/a/b\n');
  expect(await world.pass()).toMatchObject({ exitCode: 5, summary: { uploaded: 0 } });
  expect(world.status().sources[0]?.halted).toContain('.botsyncignore: line 3 crosses directories');
  world.write('docs/.botsyncignore', '*.tmp\na/**/a/**/a/b\n');
  expect(await world.pass()).toMatchObject({ exitCode: 0, summary: { uploaded: 1 } });
});

test('a .botsyncignore too large to be one halts its source', async () => {
  const world = await createWorld();
  world.write('docs/a', 'x');
  world.write('docs/.botsyncignore', '#'.repeat(1_000_001));
  expect(await world.pass()).toMatchObject({ exitCode: 5, summary: { uploaded: 0 } });
  expect(world.status().sources[0]?.halted).toContain('.botsyncignore is larger than');
});
