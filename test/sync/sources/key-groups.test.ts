import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseConfig } from '../../../src/config/load-config.ts';
import { keyGroups } from '../../../src/sync/pass/visit-sources.ts';
import { findSources } from '../../../src/sync/sources/source.ts';
import { makeTemporaryDirectory } from '../../temporary-directory.ts';

test.each([
  ['the same prefix', [{}, {}], [['0', '1']]],
  ['another prefix', [{ keyPrefix: 'a/' }, { keyPrefix: 'b/' }], [['0'], ['1']]],
  ['a prefix within the other', [{ keyPrefix: 'a/b/' }, { keyPrefix: 'a/' }], [['0', '1']]],
  ['another spelling of the prefix', [{ keyPrefix: 'é/' }, { keyPrefix: 'e\u0301/' }], [['0', '1']]],
  ['another bot', [{}, { botId: 'bot-2' }], [['0'], ['1']]],
  [
    'one that meets two, in the order of the config',
    [{ keyPrefix: 'a/' }, { keyPrefix: 'b/' }, {}],
    [['0', '1', '2']],
  ],
])('sources with %s', (_what, written, groups) => {
  const directory = makeTemporaryDirectory('key-groups');
  const sources = written.map((fields, position) => {
    mkdirSync(join(directory, String(position)));
    return { ...fields, directory: `./${position}` };
  });
  const text = JSON.stringify({ platform: { botId: 'bot-1' }, sources });
  const loaded = parseConfig(text, join(directory, 'botsync.config.json'));
  if (loaded.kind === 'invalid') throw new Error(JSON.stringify(loaded.problems));
  const found = findSources(loaded.config, 'platform');
  expect(keyGroups(found).map((group) => group.map(({ config }) => config.name))).toEqual(groups);
});
