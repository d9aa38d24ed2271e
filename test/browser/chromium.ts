import { execFile } from 'node:child_process';
import { createReadStream, createWriteStream, existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { delimiter, dirname, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { createBrotliDecompress } from 'node:zlib';
import { chromium, type Browser } from 'playwright-core';

const run = promisify(execFile);

/** A browser that has been started, or why none could be. */
export type StartedBrowser =
  | { readonly kind: 'started'; readonly browser: Browser }
  | { readonly kind: 'none'; readonly reason: string };

/** A Chromium, and what it needs in its environment. */
interface Candidate {
  readonly path: string;
  readonly environment: Readonly<Record<string, string>>;
}

/**
 * Starts the Chromium that `BOTSYNC_CHROMIUM` names; else one of the system's; else the one that is a package. Its
 * switches are Playwright's, none of which changes what a page may do: policies, origins and cookies are as for a
 * person. It has no sandbox, which neither root nor most containers can give it: it sees only our pages.
 */
export async function startBrowser(): Promise<StartedBrowser> {
  const reasons: string[] = [];
  for (const find of finders()) {
    try {
      const candidate = await find();
      if (candidate === null) continue;
      const { path, environment } = candidate;
      return {
        kind: 'started',
        browser: await chromium.launch({ executablePath: path, env: { ...process.env, ...environment } }),
      };
    } catch (error) {
      reasons.push(error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error));
    }
  }
  return { kind: 'none', reason: reasons.join('; ') || 'there is none' };
}

function finders(): (() => Promise<Candidate | null>)[] {
  const { BOTSYNC_CHROMIUM: named, PATH = '' } = process.env;
  if (named !== undefined && named !== '') return [() => Promise.resolve(plain(named))];
  const installed = PATH.split(delimiter)
    .flatMap((directory) => SYSTEM_NAMES.map((name) => join(directory, name)))
    .concat('/Applications/Google Chrome.app/Contents/MacOS/Google Chrome')
    .filter((path) => existsSync(path));
  return [...installed.map((path) => () => Promise.resolve(plain(path))), findPackaged];
}

const SYSTEM_NAMES = [
  'chrome-headless-shell',
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
];

function plain(path: string): Candidate {
  return { path, environment: {} };
}

/**
 * The Chromium of the package @sparticuz/chromium, unpacked once beside the packages. The package itself would unpack it
 * into the directory for temporary files, where others could put theirs, and where a second process finds it half done.
 */
async function findPackaged(): Promise<Candidate | null> {
  if (process.platform !== 'linux' || process.arch !== 'x64') return null;
  const entry = createRequire(import.meta.url).resolve('@sparticuz/chromium');
  const packageDirectory = resolve(dirname(entry), '../..');
  const manifest = JSON.parse(await readFile(join(packageDirectory, 'package.json'), 'utf8')) as {
    version: string;
  };
  const cache = resolve(packageDirectory, '../../.cache');
  const directory = join(cache, `botsync-chromium-${manifest.version}`);
  if (!existsSync(directory)) await unpack(join(packageDirectory, 'bin'), cache, directory);
  const path = join(directory, 'chromium');
  const { stdout: libraries } = await run('ldd', [path]);
  return {
    path,
    environment: {
      FONTCONFIG_FILE: join(directory, 'fonts.conf'),
      ...(libraries.includes('not found') && { LD_LIBRARY_PATH: join(directory, 'lib') }),
    },
  };
}

/** Whoever comes first gives the directory its name, with everything in it; the others use it. */
async function unpack(packed: string, cache: string, directory: string): Promise<void> {
  await mkdir(cache, { recursive: true });
  const fresh = await mkdtemp(`${directory}-`);
  try {
    await decompress(join(packed, 'chromium.br'), join(fresh, 'chromium'));
    for (const name of ['al2023', 'fonts']) {
      await decompress(join(packed, `${name}.tar.br`), join(fresh, `${name}.tar`));
      await run('tar', ['-xf', join(fresh, `${name}.tar`), '-C', fresh]);
      await rm(join(fresh, `${name}.tar`));
    }
    await writeFile(join(fresh, 'fonts.conf'), fontSettings(directory));
    await rename(fresh, directory).catch((error: unknown) => {
      if (!existsSync(directory)) throw error;
    });
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
}

async function decompress(from: string, to: string): Promise<void> {
  await pipeline(
    createReadStream(from),
    createBrotliDecompress({ chunkSize: 2 ** 20 }),
    createWriteStream(to, { mode: 0o755 }),
  );
}

/** The package's font for text, so that pictures look the same everywhere; the system's, if any, for the rest. */
function fontSettings(directory: string): string {
  return `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir>${join(directory, 'fonts')}</dir>
  <include ignore_missing="yes">/etc/fonts/fonts.conf</include>
  <match target="pattern">
    <test qual="any" name="family"><string>sans-serif</string></test>
    <test qual="all" name="family" compare="not_eq"><string>monospace</string></test>
    <test qual="all" name="family" compare="not_eq"><string>ui-monospace</string></test>
    <edit name="family" mode="prepend_first" binding="strong"><string>Open Sans</string></edit>
  </match>
  <cachedir>${join(directory, 'fonts-cache')}</cachedir>
</fontconfig>
`;
}
