// Builds the command into dist/cli: a bundle, which starts sooner than what it is made of. What has native parts or
// starts threads of its own stays a dependency. See docs/decisions/0006-bundle.md.
import { build } from 'esbuild';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { withStableNames } from './chunk-names.js';

const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8'));

const built = await build({
  // The thread that watches the daemon's main thread is loaded by its name.
  entryPoints: { main: 'src/cli/main.ts', 'hang-watch-thread': 'src/service/hang-watch-thread.ts' },
  outdir: 'dist/cli',
  bundle: true,
  splitting: true,
  platform: 'node',
  target: 'node20.19',
  format: 'esm',
  mainFields: ['module', 'main'],
  external: Object.keys(dependencies),
  metafile: true,
  legalComments: 'none',
  // Read only when a defect is reported, by src/service/source-stack.ts, which needs names and lines alone.
  sourcemap: 'linked',
  sourcesContent: false,
  write: false,
  // Bundled CommonJS asks for Node's own modules by require.
  banner: {
    js: "import { createRequire as __createRequire } from 'node:module';\nconst require = __createRequire(import.meta.url);",
  },
});
rmSync('dist', { recursive: true, force: true });
mkdirSync('dist/cli', { recursive: true });
for (const { path, text } of withStableNames(built)) writeFileSync(path, text);
chmodSync('dist/cli/main.js', 0o755);
writeFileSync('dist/THIRD-PARTY-LICENSES.txt', licences(built.metafile));

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
