import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { createSite, run, type Ended } from '../cli/binary.ts';

/**
 * What a file system without locks does to a process: the calls that lock a file fail. No such file system can be
 * mounted everywhere, so the answer of the system is replaced in front of the real command.
 */
const REFUSES_LOCKS = `
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
static int answer(const char *name, int fd, int command, void *argument) {
  int (*next)(int, int, ...) = (int (*)(int, int, ...))dlsym(RTLD_NEXT, name);
  if (command != F_SETLK && command != F_SETLKW && command != F_GETLK) return next(fd, command, argument);
  errno = atoi(getenv("LOCK_ERRNO"));
  return -1;
}
#define REPLACE(name) \\
  int name(int fd, int command, ...) { \\
    va_list list; \\
    va_start(list, command); \\
    void *argument = va_arg(list, void *); \\
    va_end(list); \\
    return answer(#name, fd, command, argument); \\
  }
REPLACE(fcntl)
REPLACE(fcntl64)
`;

/** Builds the library; `null` where there is no compiler. */
function buildLibrary(): string | null {
  const directory = mkdtempSync(join(tmpdir(), 'botsync-locks-'));
  afterAll(() => {
    rmSync(directory, { recursive: true });
  });
  const [source, library] = [join(directory, 'refuses-locks.c'), join(directory, 'refuses-locks.so')];
  writeFileSync(source, REFUSES_LOCKS);
  const built = spawnSync('cc', ['-shared', '-fPIC', '-o', library, source, '-ldl']);
  return process.platform === 'linux' && built.status === 0 ? library : null;
}

describe('a file system without locks', () => {
  const library = buildLibrary();
  const { ENOLCK, EINVAL, ENOSYS, EOPNOTSUPP } = constants.errno;
  const reasons = { ENOLCK, EINVAL, ENOSYS, EOPNOTSUPP };

  test.skipIf(library === null)(
    'is told of as one, nothing is sent or written, and elsewhere all goes on',
    async () => {
      const site = await createSite({ removals: { mode: 'expire' } });
      site.write('docs/a', 'a');
      const runWithoutLocks = (errno: number, ...args: string[]): Promise<Ended> =>
        run(site.directory, args, { ...site.env, LD_PRELOAD: library as string, LOCK_ERRNO: String(errno) });
      const file = join(site.directory, '.botsync/state.db');
      const writers = await Promise.all([
        ...Object.values(reasons).map((errno) => runWithoutLocks(errno, 'sync', '--once')),
        runWithoutLocks(ENOLCK, 'sync'),
      ]);
      for (const refused of writers) {
        expect(refused).toMatchObject({ code: 2, stdout: '' });
        expect(refused.stderr).toContain(`the state file ${file} cannot be locked`);
        expect(refused.stderr).toContain('its file system does not support locks');
        expect(refused.stderr).toContain('put it on another one');
      }
      // Those who only read take no lock where nobody writes.
      expect((await runWithoutLocks(ENOLCK, 'sync', '--dry-run')).code).toBe(0);
      expect((await runWithoutLocks(ENOLCK, 'status')).code).toBe(3);
      expect(existsSync(file)).toBe(false);
      expect(site.emulator.counts.size).toBe(0);
      expect((await site.sync()).code).toBe(0);
      expect((await site.sync()).lines()).toMatchObject([{ kind: 'summary', unchanged: 1 }]);
    },
  );
});
