import { expect, test } from 'vitest';
import type { ClusterFacts, ClusterTrouble } from '../../src/domain/cluster-status.ts';
import { adviceFor } from '../../src/words/advice.ts';
import { describeCluster, describeClusterTrouble } from '../../src/words/cluster.ts';

const unit = (name: string, holderHost: string | null) => ({
  ...{ name, sources: [name], holderHost, epoch: 1 },
  ...{ isConfigured: true, isHalted: false, whyUntaken: null },
});
const host = (name: string, alive = true, version = '1.2.3') => ({
  ...{ name, version, alive, isMe: name === 'web1', hindrances: [] },
});
const CLUSTER: ClusterFacts = {
  ...{ host: 'web1', trouble: null, held: ['docs'], blocked: {}, failed: {} },
  units: [unit('docs', 'web1'), unit('news', 'web2'), unit('till', 'branch'), unit('faq', 'old')],
  hosts: [host('branch'), host('old', false), host('web1'), host('web2', true, '1.2.2'), host('web3')],
};

test('who of a cluster does what', () => {
  expect(describeCluster(CLUSTER)).toEqual([
    'Cluster: this host, web1, syncs docs',
    '  branch syncs till',
    '  old is silent, and had faq',
    '  web2 (version 1.2.2) syncs news',
    '  web3 is on standby',
  ]);
});

test('a host that has nothing, and one that hears of nobody', () => {
  expect(describeCluster({ ...CLUSTER, held: [], trouble: 'the database cannot be reached' })).toEqual([
    'Cluster: this host, web1, takes no part; how the sources stand that it does not sync is not known here',
  ]);
});

test('of many hosts some are named', () => {
  const many = Array.from({ length: 23 }, (_, index) => host(`branch-${index}`));
  const lines = describeCluster({ ...CLUSTER, hosts: [host('web1'), ...many] });
  expect(lines).toHaveLength(22);
  expect(lines.at(-1)).toBe('  … and 3 more hosts; --json lists them');
});

test.each<[ClusterTrouble, string, string]>([
  [{ kind: 'cluster', reason: 'the database is gone' }, 'the database is gone', 'wait cluster status'],
  [
    { kind: 'blocked-unit', unit: 'docs', reason: 'keys meet' },
    'docs is halted: keys meet',
    'fix cluster status',
  ],
  [
    { kind: 'free-unit', unit: 'docs', silent: null, reason: null, whyUntaken: null },
    'docs is synced by no host',
    'wait cluster status',
  ],
  [
    { kind: 'free-unit', unit: 'docs', silent: null, reason: 'a record cannot be read', whyUntaken: null },
    'docs is synced by no host: a record cannot be read',
    'wait cluster status',
  ],
  [
    { kind: 'free-unit', unit: 'docs', silent: 'web2', reason: null, whyUntaken: null },
    'docs is synced by no host: web2, which had it, is silent',
    'wait cluster status',
  ],
  [
    { kind: 'free-unit', unit: 'docs', silent: 'web2', reason: null, whyUntaken: 'no-taker' },
    'docs is synced by no host: web2, which had it, is silent; no host that is up has its sources, or one has just released it',
    'wait cluster status',
  ],
  [
    { kind: 'free-unit', unit: 'docs', silent: null, reason: null, whyUntaken: 'no-host' },
    'docs is synced by no host: no host is up',
    'wait cluster status',
  ],
  [
    {
      kind: 'differing-source',
      source: 'docs',
      fields: [
        { field: 'keyPrefix', here: '"kb/"', ledger: '""' },
        { field: 'ignore[0]', here: null, ledger: '"*.tmp"' },
      ],
    },
    'this host has another configuration of docs than the ledger: keyPrefix is "kb/", in the ledger ""; ignore[0] is not set, in the ledger "*.tmp"; it leaves the source to others',
    'fix cluster status',
  ],
  [
    { kind: 'elsewhere', source: 'docs', host: 'web2', files: 2, refusal: null },
    '2 files of docs, which web2 syncs, are not in sync',
    'wait status',
  ],
  [
    { kind: 'elsewhere', source: 'docs', host: 'web2', files: 1, refusal: '401 Unauthorized' },
    '1 file of docs, which web2 syncs, is not in sync: the platform refuses the credentials of web2: 401 Unauthorized',
    'wait status',
  ],
])('a trouble in a sentence, and what to do: %j', (trouble, sentence, advised) => {
  expect(describeClusterTrouble(trouble)).toBe(sentence);
  const { need, command } = adviceFor(trouble, [], () => null);
  expect(`${need} ${command ?? ''}`).toBe(advised);
});
