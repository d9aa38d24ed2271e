// Writes the man page, dist/man/botsync.1, from what the command line declares: the same that help shows.
import { build } from 'esbuild';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

/** Writes the page; the packages have to be installed. */
export async function writeManPage() {
  // Below the package, so that it finds the packages.
  const program = 'dist/man-page.mjs';
  await build({
    stdin: {
      contents: `
        export { commandCatalog } from './src/cli/command-line.ts';
        export { manPage } from './src/cli/help/man-page.ts';`,
      resolveDir: '.',
    },
    outfile: program,
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    // What commands do is not asked for.
    external: ['./commands/*', '../../config/*', '../config/load-config.ts'],
    logLevel: 'error',
  });
  try {
    const { commandCatalog, manPage } = await import(pathToFileURL(program).href);
    const { version, homepage = null } = JSON.parse(readFileSync('package.json', 'utf8'));
    mkdirSync('dist/man', { recursive: true });
    writeFileSync('dist/man/botsync.1', manPage(commandCatalog(), { version, homepage }));
  } finally {
    rmSync(program, { force: true });
  }
}
