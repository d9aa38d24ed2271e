import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { createSite, run, start, type Ended } from './binary.ts';
import { POLL } from './running-daemon.ts';

/** The sources of all that a command loaded, and the packages. */
function loadedBy(coverage: string): string[] {
  const urls = readdirSync(coverage).flatMap((name) => {
    const { result } = JSON.parse(readFileSync(join(coverage, name), 'utf8')) as {
      result: { url: string }[];
    };
    return result.map(({ url }) => url);
  });
  return urls
    .filter((url) => url.startsWith('file:'))
    .map((url) => fileURLToPath(url))
    .flatMap((file) => [file, ...sourcesOf(file)]);
}

function sourcesOf(bundle: string): string[] {
  if (!existsSync(`${bundle}.map`)) return [];
  return (JSON.parse(readFileSync(`${bundle}.map`, 'utf8')) as { sources: string[] }).sources;
}

test('a host that is alone loads nothing of clusters, whatever it does', async () => {
  const site = await createSite();
  site.write('docs/a.md', 'a');
  let runs = 0;
  const look = async (ended: (env: Record<string, string>) => Promise<Ended>): Promise<string[]> => {
    const coverage = join(site.directory, `coverage-${(runs += 1)}`);
    mkdirSync(coverage);
    const { code, stderr } = await ended({ ...site.env, NODE_V8_COVERAGE: coverage });
    expect(code, stderr).toBe(0);
    return loadedBy(coverage);
  };
  const commands = [['sync', '--once'], ['sync', '--dry-run'], ['status'], ['ls'], ['explain', 'docs/a.md']];
  const all: string[][] = [];
  for (const args of commands) all.push(await look((env) => run(site.directory, args, env)));
  all.push(
    await look(async (env) => {
      const { child, ended } = start(site.directory, ['sync'], env);
      await expect
        .poll(async () => (await run(site.directory, ['rescan'], site.env)).stderr, POLL)
        .not.toContain('no botsync is running');
      child.kill('SIGTERM');
      return await ended;
    }),
  );
  const loaded = all.flat();
  // Else there is nothing to see.
  expect(loaded.filter((file) => file.endsWith('src/run/daemon/daemon-run.ts'))).not.toEqual([]);
  expect(
    loaded.filter((file) => /\/node_modules\/pg[-/]|\/src\/(?:library\/|cli\/)?cluster\//u.test(file)),
  ).toEqual([]);
});
