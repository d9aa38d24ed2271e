// Parts of botsync that no command offers by themselves, for benchmarks of those parts.
import { build } from 'esbuild';
import { readFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Makes a module that Node can run from one in TypeScript, or that imports such; gives the path. */
export async function bundled(url) {
  const entry = fileURLToPath(url);
  const outfile = fileURLToPath(
    new URL(`results/bundled/${basename(entry).replace(/\.\w+$/u, '.js')}`, import.meta.url),
  );
  await build({
    entryPoints: [entry],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    logLevel: 'error',
    plugins: [{ name: 'directories', setup: keepDirectories }],
  });
  return outfile;
}

/** A module that reads what lies beside it goes on to find it. */
function keepDirectories({ onLoad }) {
  onLoad({ filter: /\/(?:src|test)\/.*\.ts$/ }, ({ path }) => ({
    contents: readFileSync(path, 'utf8').replaceAll('import.meta.dirname', JSON.stringify(dirname(path))),
    loader: 'ts',
  }));
}
