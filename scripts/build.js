// Builds the command into dist/cli and the library into dist/library, bundles that share what they load in dist/chunks: a
// bundle starts sooner than what it is made of. What has native parts or starts threads of its own stays a dependency. See
// docs/decisions/0006-bundle.md.
import { build } from 'esbuild';
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { libraryTypes } from './library-types.js';

const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8'));

const common = {
  outdir: 'dist',
  bundle: true,
  platform: 'node',
  format: 'esm',
  legalComments: 'none',
  // Read only when a defect is reported, by src/service/source-stack.ts, which needs names and lines alone.
  sourcemap: 'linked',
  sourcesContent: false,
};
rmSync('dist', { recursive: true, force: true });
const { metafile } = await build({
  ...common,
  entryPoints: {
    'cli/start': 'src/cli/start.ts',
    'library/botsync': 'src/run/botsync.ts',
    // The thread that watches the daemon's main thread is loaded by its name.
    'chunks/hang-watch-thread': 'src/service/hang-watch-thread.ts',
  },
  chunkNames: 'chunks/[name]-[hash]',
  splitting: true,
  target: 'node20.19',
  mainFields: ['module', 'main'],
  external: Object.keys(dependencies),
  metafile: true,
  // Bundled CommonJS asks for Node's own modules by require.
  banner: {
    js: "import { createRequire as __createRequire } from 'node:module';\nconst require = __createRequire(import.meta.url);",
  },
});
// What is called has to be read by versions of Node that can read nothing of the rest.
await build({
  ...common,
  entryPoints: { 'cli/main': 'src/cli/main.ts' },
  target: 'es2015',
  supported: { 'dynamic-import': true },
  plugins: [{ name: 'start', setup: leaveStartOut }],
});
chmodSync('dist/cli/main.js', 0o755);
writeFileSync('dist/library/botsync.d.ts', await libraryTypes());
writeFileSync('dist/THIRD-PARTY-LICENSES.txt', licences(metafile));

/** The rest is a file beside the entry. */
function leaveStartOut({ onResolve }) {
  onResolve({ filter: /^\.\/start\.ts$/ }, () => ({ path: './start.js', external: true }));
}

/** The licences of all packages that went into the bundle. */
function licences({ inputs }) {
  const packages = new Set(
    Object.keys(inputs).flatMap((file) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)/.exec(file)?.[1] ?? []),
  );
  return [...packages]
    .sort()
    .map((directory) => {
      const { name, version, license } = JSON.parse(readFileSync(`${directory}/package.json`, 'utf8'));
      const file = readdirSync(directory).find((entry) => /^licen[cs]e/i.test(entry));
      const text =
        file !== undefined && existsSync(`${directory}/${file}`)
          ? readFileSync(`${directory}/${file}`, 'utf8').trim()
          : '';
      return `${name} ${version} (${license})\n\n${text}\n`;
    })
    .join(`\n${'-'.repeat(80)}\n\n`);
}
