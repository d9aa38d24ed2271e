import { expect, test } from 'vitest';
import { verdictOf, type Verdict } from '../../src/page/verdict.ts';
import type { ClusterFacts } from '../../src/domain/cluster-status.ts';
import { HALT, at, factsOf, hostOf, unitOf, type Scene } from './facts.ts';

const CLUSTER: ClusterFacts = {
  ...{ host: 'web1', trouble: null, held: [], blocked: {}, failed: {} },
  units: [unitOf('docs', 'web2')],
  hosts: [hostOf('web2')],
};

const OUTAGE = { since: at(-240), nextTry: at(30), reason: 'cannot reach it: connection refused' };

/** How everything stands → what the first sentence says, and what to type. */
const SCENES: readonly (readonly [string, Scene, Partial<Verdict>, command: string | null])[] = [
  [
    'all is in sync',
    {},
    {
      mood: 'fine',
      title: 'In sync',
      detail:
        'The platform has all 1,204 files (3.4 MB), and all of them are searchable. Nothing needs to be done.',
    },
    null,
  ],
  [
    'nothing is known to be searchable',
    { sources: [{ name: 'docs', searchable: 0, stored: 1204 }] },
    { mood: 'fine', detail: 'The platform has all 1,204 files (3.4 MB). Nothing needs to be done.' },
    null,
  ],
  [
    'there is nothing to send',
    { sources: [{ name: 'docs', files: 0, bytes: 0, searchable: 0 }] },
    { mood: 'fine', detail: 'There are no files to send. Nothing needs to be done.' },
    null,
  ],
  [
    'the platform is indexing',
    { sources: [{ name: 'docs', unconfirmed: 12 }] },
    {
      mood: 'busy',
      title: 'Everything was sent',
      detail: 'The platform has not finished indexing 12 files. Nothing needs to be done.',
    },
    null,
  ],
  [
    'the first pass has not counted yet',
    { running: { activity: 'pass', isFirstPassOver: false } },
    {
      mood: 'busy',
      title: 'Checking all files',
      detail: 'All files are being checked. Nothing needs to be done.',
    },
    null,
  ],
  [
    'the first pass sends',
    {
      running: { activity: 'pass', isFirstPassOver: false },
      facts: {
        transfers: {
          ...{ inFlight: [], bytesPerSecond: 0, filesPerSecond: 0, leftMs: 65_000 },
          firstPass: { files: 340, bytes: 1_000_000, ofFiles: 1204, ofBytes: 3_400_000, part: 0.289 },
        },
      },
    },
    {
      mood: 'busy',
      title: 'Sending files: 28 %, about 1 min 5 s left',
      detail: '340 of 1,204 files sent; 1 MB of 3.4 MB transferred. Nothing needs to be done.',
    },
    null,
  ],
  [
    'changes are being sent',
    { sources: [{ name: 'docs', sending: 2 }], running: { queued: 1 } },
    {
      mood: 'busy',
      title: 'Sending changes',
      detail: '2 files being sent, 1 change waiting. Nothing needs to be done.',
    },
    null,
  ],
  [
    'a file failed and is retried',
    { failures: [{ path: 'a b.md', reason: '500: try later' }] },
    { mood: 'waits', title: 'docs/a b.md could not be synced', detail: '500: try later', others: 0 },
    "rescan '/srv/docs/a b.md'",
  ],
  [
    'files are refused',
    {
      failures: ['a.md', 'b.md'].map((path) => ({
        ...{ path, kind: 'refused', retry: 'change', reason: '400: no such type' },
      })),
    },
    { mood: 'needs-you', title: '2 files are refused', detail: '400: no such type' },
    'explain /srv/docs/a.md',
  ],
  [
    'a file is not searchable',
    { failures: [{ path: 'a.mp4', kind: 'unsearchable', retry: 'change', reason: 'could not be indexed' }] },
    { mood: 'needs-you', title: 'docs/a.mp4 is not searchable' },
    'explain /srv/docs/a.mp4',
  ],
  [
    'a source is halted',
    {
      sources: [{ name: 'docs', halted: '40 of 41 files would be removed', halt: HALT }],
    },
    {
      mood: 'needs-you',
      title: 'docs is halted: your decision is needed',
      detail: '40 of 41 files would be removed',
    },
    'approve docs',
  ],
  [
    'a directory is missing',
    { sources: [{ name: 'docs', halted: '/srv/docs does not exist' }] },
    { mood: 'needs-you', title: 'docs is halted', detail: '/srv/docs does not exist' },
    null,
  ],
  [
    'the platform is away',
    {
      running: { outage: OUTAGE },
      failures: [{ path: 'a.md', reason: 'cannot reach it' }],
    },
    { mood: 'waits', title: 'The platform is unreachable', detail: OUTAGE.reason, others: 0 },
    'doctor',
  ],
  [
    'the credentials are refused',
    { running: { refusal: '401: unauthorized' } },
    { mood: 'needs-you', title: 'The platform refuses the credentials', detail: '401: unauthorized' },
    'doctor',
  ],
  [
    'the configuration on disk is wrong',
    { running: { configuration: { file: '/b.json', loadedAt: at(-60), problem: 'b.json:4:15: no value' } } },
    {
      mood: 'needs-you',
      title: 'The configuration on disk cannot be loaded',
      detail: `b.json:4:15: no value. The one of ${at(-60)} is in use.`,
    },
    'doctor',
  ],
  [
    'a quota is used up',
    { running: { shortage: '402: no room' } },
    { mood: 'needs-you', title: 'A quota of the platform is used up' },
    'status --usage',
  ],
  [
    'files will expire',
    { sources: [{ name: 'docs', expiring: 3 }] },
    { mood: 'needs-you', title: '3 files of docs will expire' },
    'ls --failed',
  ],
  [
    'the state file cannot be used',
    { running: { trouble: 'the disk is full' } },
    { mood: 'needs-you', title: 'The state file cannot be used', detail: 'the disk is full' },
    'doctor',
  ],
  [
    'another host syncs it all',
    { cluster: CLUSTER, sources: [{ name: 'docs', syncedBy: 'web2', searchable: 0 }] },
    { mood: 'fine', title: 'In sync' },
    null,
  ],
  [
    'the database is out of reach',
    { cluster: { ...CLUSTER, trouble: 'the database cannot be reached' } },
    {
      ...{ mood: 'waits', title: 'This host cannot take part in the cluster' },
      detail: 'the database cannot be reached',
    },
    'cluster status',
  ],
  [
    'no host syncs it',
    { cluster: { ...CLUSTER, hosts: [] } },
    { mood: 'waits', title: 'docs is synced by no host: web2, which had it, is silent' },
    'cluster status',
  ],
  [
    'its keys meet',
    { cluster: { ...CLUSTER, blocked: { docs: 'its keys may be those of "faq"' } } },
    { mood: 'needs-you', title: 'docs is halted', detail: 'its keys may be those of "faq"' },
    'cluster status',
  ],
];

test.each(SCENES)('%s', (_, scene, expected, command) => {
  const verdict = verdictOf(factsOf(scene));
  expect(verdict).toMatchObject(expected);
  expect(verdict.advice?.command ?? null).toBe(command);
});

test('what somebody has to do comes before what botsync retries by itself', () => {
  const verdict = verdictOf(
    factsOf({
      running: { outage: OUTAGE },
      sources: [{ name: 'docs', halted: 'too many removals', halt: HALT }],
      failures: [{ path: 'a.md', kind: 'refused', retry: 'change', reason: '400: no' }],
    }),
  );
  expect(verdict).toMatchObject({
    mood: 'needs-you',
    title: 'docs is halted: your decision is needed',
    others: 2,
  });
});
