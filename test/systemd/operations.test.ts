import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { parseConfig, type LoadedConfig } from '../../src/config/load-config.ts';
import { renderProblem } from '../../src/config/problem.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const guide = readFileSync(resolve(ROOT, 'docs/OPERATIONS.md'), 'utf8');
const configs = [...guide.matchAll(/```jsonc\n(.*?)```/gsu)].map(([, text = '']) => text);

function load(text: string): LoadedConfig {
  const result = parseConfig(text, '/etc/botsync/guide.json');
  if (result.kind === 'invalid') throw new Error(result.problems.map(renderProblem).join('\n'));
  return result;
}

/** What a unit sets, `%i` filled in. */
function settingOf(unit: string, name: string): string {
  const text = readFileSync(resolve(ROOT, 'systemd', unit), 'utf8').replaceAll('%i', 'support');
  return new RegExp(`^${name}=(.*)$`, 'mu').exec(text)?.[1] ?? '';
}

test.each([
  ['botsync.service', configs[0]],
  ['botsync-once.service', configs[0]],
  ['botsync@.service', configs[1]],
])('%s runs with the configuration of the guide', (unit, text = '') => {
  const { config, warnings } = load(text);
  expect(warnings).toEqual([]);
  expect(dirname(config.stateFile)).toBe(`/var/lib/${settingOf(unit, 'StateDirectory')}`);
  const [credential, file = ''] = settingOf(unit, 'LoadCredential').split(':');
  expect(config.platform.token).toEqual({ kind: 'credential', name: credential });
  expect(guide).toContain(file);
  expect(guide).toContain(/--config (\S+)/u.exec(settingOf(unit, 'ExecStart'))?.[1]);
});

test('configurations that run side by side share nothing', () => {
  const [one, other] = configs.map((text) => load(text).config);
  expect(one?.stateFile).not.toBe(other?.stateFile);
  expect(one?.service.listen).not.toEqual(other?.service.listen);
});

test('headings that the guide points to are there', () => {
  const anchors = [...guide.matchAll(/^#+ (.+)$/gmu)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\w -]/gu, '')
      .replaceAll(' ', '-'),
  );
  for (const [, anchor] of guide.matchAll(/\]\(#([^)]+)\)/gu)) expect(anchors).toContain(anchor);
});
