import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { BINARY, createSite, temporaryDirectory } from '../cli/binary.ts';

/** A user who owns nothing here. */
const NOBODY = 65534;

interface Said {
  readonly code: number | null;
  readonly stderr: string;
  readonly stdout: string;
}

/** Runs a command as that user, in a directory with a configuration whose state file is elsewhere. */
function runAsNobody(stateFile: string, args: readonly string[]): Said {
  const directory = temporaryDirectory();
  mkdirSync(join(directory, 'docs'));
  const config = {
    platform: { botId: 'b', token: 'env:BOTSYNC_TOKEN', operations: 'specified' },
    sources: [{ directory: './docs' }],
    stateFile,
  };
  writeFileSync(join(directory, 'botsync.config.json'), JSON.stringify(config));
  chmodSync(directory, 0o755);
  const { status, stderr, stdout } = spawnSync(process.execPath, [BINARY, ...args], {
    ...{ cwd: directory, encoding: 'utf8', timeout: 20_000, uid: NOBODY, gid: NOBODY },
    env: { ...process.env, BOTSYNC_TOKEN: 'of-nobody' },
  });
  return { code: status, stderr, stdout };
}

test.skipIf(process.getuid?.() !== 0)("another user's state file: whose it is, and exit 2", async () => {
  const site = await createSite();
  await site.sync();
  chmodSync(site.directory, 0o755);
  chmodSync(join(site.directory, '.botsync'), 0o755);
  const stateFile = join(site.directory, '.botsync/state.db');
  const theirs = `${stateFile} belongs to user root, and botsync runs as nobody; run it as root (sudo -u root …), or name another stateFile\n`;
  const written = `the state file ${stateFile} cannot be locked: ${theirs}`;
  expect(runAsNobody(stateFile, ['sync', '--once'])).toMatchObject({ code: 2, stderr: written });
  expect(runAsNobody(stateFile, ['sync'])).toMatchObject({ code: 2, stderr: written });
  const read = { code: 2, stderr: `${stateFile} cannot be read: ${theirs}` };
  expect(runAsNobody(stateFile, ['status'])).toMatchObject(read);
  expect(runAsNobody(stateFile, ['sync', '--dry-run'])).toMatchObject(read);
  const beside = join(site.directory, '.botsync/other.db');
  expect(runAsNobody(beside, ['sync', '--once']).stderr).toContain(
    `${join(site.directory, '.botsync')} belongs to user root`,
  );
});

test.skipIf(process.platform !== 'linux')(
  'a state file below /proc: exit 2, and no endless wait',
  async () => {
    const site = await createSite({ stateFile: '/proc/botsync/state.db' });
    const { code, stderr } = await site.sync();
    expect(code).toBe(2);
    expect(stderr).toContain(
      'nothing can be stored below /proc, a virtual file system of the kernel; name another stateFile',
    );
  },
);
