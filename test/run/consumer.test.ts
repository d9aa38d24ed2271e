import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { createSite, temporaryDirectory } from '../cli/binary.ts';

const ROOT = resolve(import.meta.dirname, '../..');

const CONSUMER = `
import { openSync, SyncError, type PassResult, type SyncEvent } from 'botsync';

const config: string = process.argv[2] ?? '';
await using sync = openSync({ config, env: { BOTSYNC_TOKEN: process.argv[3] ?? '' } });
const events: AsyncIterableIterator<SyncEvent, undefined> = sync.events({ capacity: 100 });
const { outcome, summary }: PassResult = await sync.pass({ waitMs: 0 });
// @ts-expect-error an option that there is not
await sync.plan({ once: true });
let code: string | null = null;
try {
  openSync({ config: '/nowhere.json' });
} catch (error) {
  if (error instanceof SyncError) code = error.code;
}
await sync.close();
const paths: string[] = [];
for await (const event of events) if (event.kind === 'file') paths.push(event.file.path);
console.log(JSON.stringify({ outcome, uploaded: summary.uploaded, code, paths }));
`;

/** A folder in which the package is installed as npm packs it, beside what it depends on. */
function installed(): string {
  const directory = temporaryDirectory();
  const packed = execFileSync(
    'npm',
    ['pack', '--ignore-scripts', '--json', '--pack-destination', directory],
    {
      cwd: ROOT,
      encoding: 'utf8',
      stdio: 'pipe',
    },
  );
  const [{ filename }] = JSON.parse(packed) as [{ filename: string }];
  const modules = join(directory, 'node_modules');
  const own = join(modules, 'botsync');
  mkdirSync(own, { recursive: true });
  execFileSync('tar', ['-xzf', join(directory, filename), '--strip-components=1', '-C', own]);
  const { dependencies } = JSON.parse(readFileSync(join(own, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>;
  };
  for (const name of [...Object.keys(dependencies), '@types/node']) {
    mkdirSync(join(modules, name, '..'), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules', name), join(modules, name));
  }
  return directory;
}

test('a TypeScript program compiles against the packed package, and makes a pass', async () => {
  const directory = installed();
  const compilerOptions = {
    ...{
      module: 'nodenext',
      moduleResolution: 'nodenext',
      target: 'es2022',
      lib: ['es2023', 'esnext.disposable'],
    },
    ...{
      strict: true,
      skipLibCheck: false,
      types: ['node'],
      exactOptionalPropertyTypes: true,
      outDir: 'out',
    },
  };
  const files = {
    'package.json': { type: 'module' },
    'tsconfig.json': { compilerOptions, files: ['use.ts'] },
  };
  for (const [name, content] of Object.entries(files))
    writeFileSync(join(directory, name), JSON.stringify(content));
  writeFileSync(join(directory, 'use.ts'), CONSUMER);
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
  execFileSync(process.execPath, [tsc, '-p', directory], { encoding: 'utf8', stdio: 'pipe' });

  const site = await createSite();
  site.write('docs/a.md', 'a');
  const config = join(site.directory, 'botsync.config.json');
  const args = [join(directory, 'out/use.js'), config, site.emulator.token];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  for await (const text of child.stdout.setEncoding('utf8')) output += text as string;
  // The process ends by itself: nothing of the library keeps it.
  expect(JSON.parse(output)).toEqual({
    ...{ outcome: 'in-sync', uploaded: 1, code: 'configuration', paths: ['a.md'] },
  });
}, 120_000);

test('nothing but the library can be imported', () => {
  const { exports } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    exports: Record<string, unknown>;
  };
  expect(Object.keys(exports)).toEqual(['.', './package.json']);
  expect(readFileSync(join(ROOT, 'dist/library/botsync.d.ts'), 'utf8')).not.toMatch(/^import /mu);
});
