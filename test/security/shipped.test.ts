import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../..');

test('the bill of materials names what is shipped and nothing else', () => {
  const text = execFileSync('npm', ['run', '--silent', 'sbom'], {
    cwd: ROOT,
    encoding: 'utf8',
    stdio: 'pipe',
  });
  const { components, metadata } = JSON.parse(text) as {
    components: { name: string }[];
    metadata: { component: { name: string } };
  };
  const names = new Set(components.map(({ name }) => name));
  const { dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>;
  };
  for (const name of [...Object.keys(dependencies), 'undici', 'zod', 'yargs', 'picomatch'])
    expect(names).toContain(name);
  for (const name of ['vitest', 'typescript', 'esbuild']) expect(names).not.toContain(name);
  expect(metadata.component.name).toBe('botsync');
}, 60_000);
