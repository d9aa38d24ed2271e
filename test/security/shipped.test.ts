import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../..');

test('the bill of materials names what is shipped and nothing else', () => {
  npm('run', '--silent', 'sbom');
  const { components, metadata } = JSON.parse(readFileSync(join(ROOT, 'dist/sbom.cdx.json'), 'utf8')) as {
    components: { name: string }[];
    metadata: { component: { name: string } };
  };
  const names = new Set(components.map(({ name }) => name));
  const { dependencies, scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>;
    scripts: Record<string, string>;
  };
  for (const name of [...Object.keys(dependencies), 'undici', 'zod', 'yargs', 'picomatch'])
    expect(names).toContain(name);
  for (const name of ['vitest', 'typescript', 'esbuild']) expect(names).not.toContain(name);
  expect(metadata.component.name).toBe('botsync');

  expect(scripts['prepack']).toContain('npm run sbom');
  const [packed] = JSON.parse(npm('pack', '--dry-run', '--ignore-scripts', '--json')) as [
    { files: { path: string }[] },
  ];
  expect(packed.files.map(({ path }) => path)).toContain('dist/sbom.cdx.json');
}, 60_000);

function npm(...args: string[]): string {
  return execFileSync('npm', args, { cwd: ROOT, encoding: 'utf8', stdio: 'pipe' });
}
