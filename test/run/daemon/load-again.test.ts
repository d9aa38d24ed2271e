import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadAgain } from '../../../src/run/daemon/reloads.ts';
import { load } from '../../../src/run/run-base.ts';
import { SyncError } from '../../../src/run/sync-error.ts';
import { makeTemporaryDirectory } from '../../temporary-directory.ts';

const CLUSTER = { database: 'env:BOTSYNC_DATABASE', host: 'web1', lease: '10s' };

/** What a reload says of a configuration that was changed while a daemon ran; `null`: it is taken over. */
function reload(before: object, after: object): string | null {
  const config = join(makeTemporaryDirectory('load-again'), 'c.json');
  const target = { config, emulator: false };
  const write = (fields: object): void => {
    const base = { platform: { botId: 'bot-1' }, sources: [{ directory: './docs' }] };
    writeFileSync(config, JSON.stringify({ ...base, ...fields }), { mode: 0o600 });
  };
  write(before);
  const loaded = load(target);
  write(after);
  try {
    loadAgain(target, loaded);
    return null;
  } catch (error) {
    if (!(error instanceof SyncError)) throw error;
    return error.message.replace(`${config}: `, '');
  }
}

test.each<[object, object, string]>([
  [{}, { stateFile: 'other.db' }, 'stateFile: another one needs a restart'],
  [{}, { cluster: CLUSTER }, 'cluster: a change of it needs a restart'],
  [{ cluster: CLUSTER }, {}, 'cluster: a change of it needs a restart'],
  ...Object.entries({
    database: 'file:database',
    schema: 'other',
    host: 'web2',
    lease: '11s',
    suspectAfter: '21m',
  }).map(([field, value]): [object, object, string] => [
    { cluster: CLUSTER },
    { cluster: { ...CLUSTER, [field]: value } },
    `cluster.${field}: a change of it needs a restart`,
  ]),
])('what %j becomes with %j is not taken over: %s', (before, after, told) => {
  expect(reload(before, after)).toBe(told);
});

test.each<[object, object]>([
  [{}, { rules: [{ match: '**' }], stateFile: './.botsync/state.db' }],
  [{ cluster: CLUSTER }, { cluster: { ...CLUSTER, lease: '10000ms' } }],
  [{ cluster: CLUSTER }, { cluster: CLUSTER, sources: [{ directory: './docs', keyPrefix: 'more/' }] }],
])('what %j becomes with %j is taken over', (before, after) => {
  expect(reload(before, after)).toBeNull();
});
