import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { parseConfig } from '../../src/config/load-config.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const PAGES = ['debian-package', 'docker', 'github-actions'].map((name) => `docs/how-to/${name}.md`);
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
const manifest = JSON.parse(read('package.json')) as {
  bugs: { url: string };
  homepage: string;
  repository: { url: string };
  version: string;
};

test.each(PAGES)('the configurations in %s load without a warning', (page) => {
  for (const [, text = ''] of read(page).matchAll(/```jsonc\n(.*?)```/gsu))
    expect(parseConfig(text, '/etc/botsync/page.json'), page).toMatchObject({ kind: 'ok', warnings: [] });
});

test('the npm package has the pages for users, not those for who changes botsync', () => {
  const packed = execFileSync('npm', ['pack', '--dry-run', '--ignore-scripts', '--json'], {
    cwd: ROOT,
    encoding: 'utf8',
    stdio: 'pipe',
  });
  const [{ files }] = JSON.parse(packed) as [{ files: { path: string }[] }];
  const paths = files.map(({ path }) => path);
  expect(paths).toEqual(expect.arrayContaining(['README.md', 'docs/OPERATIONS.md', ...PAGES]));
  expect(paths.filter((path) => /^docs\/(?:decisions\/|STYLE)/u.test(path))).toEqual([]);
});

test('every address of the project is that of package.json', () => {
  const address = manifest.repository.url.replace(/^git\+/u, '').replace(/\.git$/u, '');
  expect(manifest.homepage).toBe(`${address}#readme`);
  expect(manifest.bugs.url).toBe(`${address}/issues`);
  expect(read('SECURITY.md')).toContain(`<${address}/security/advisories/new>`);
  expect(read('Dockerfile')).toContain(`image.source="${address}"`);
  expect(read('docs/how-to/github-actions.md')).toContain(
    `uses: ${address.replace('https://github.com/', '')}@v${manifest.version}\n`,
  );
  const others = execFileSync(
    'git',
    ['grep', '-hoiE', 'github\\.com/[a-z0-9-]*/botsync', '--', '.', ':!test'],
    {
      cwd: ROOT,
      encoding: 'utf8',
    },
  );
  expect(new Set(others.trim().split('\n'))).toEqual(new Set([address.replace('https://', '')]));
});

test('the guide to the action names every input and output, with its defaults', () => {
  const action = read('action.yml');
  const guide = read('docs/how-to/github-actions.md');
  const names = (block: string): string[] =>
    [
      ...(new RegExp(`^${block}:\n((?:  .*\n)*)`, 'mu').exec(action)?.[1] ?? '').matchAll(
        /^ {2}([a-z-]+):$/gmu,
      ),
    ].map(([, name = '']) => name);
  expect(names('inputs')).toEqual(['config', 'token', 'arguments', 'working-directory']);
  expect(names('outputs')).toEqual(['summary', 'exit-code', 'in-sync']);
  for (const name of [...names('inputs'), ...names('outputs')]) expect(guide).toContain(`\n| \`${name}\``);
});

test('the image is as its guide says: another user, a health check, a first process that passes signals on', () => {
  const dockerfile = read('Dockerfile');
  const guide = read('docs/how-to/docker.md');
  const [, user = ''] = /^USER (\d+):\d+$/mu.exec(dockerfile) ?? [];
  expect(guide).toContain(`-o ${user} -g ${user}`);
  expect(dockerfile).toContain(`--uid ${user}`);
  expect(dockerfile).toContain('ENTRYPOINT ["/usr/bin/tini", "--", "botsync"]');
  const [, place = ''] = /^VOLUME (\S+)$/mu.exec(dockerfile) ?? [];
  expect(guide).toContain(`"stateFile": "${place}/state.db"`);
  expect(read('packaging/docker/health-check.js')).toContain(`'${place}'`);
});
