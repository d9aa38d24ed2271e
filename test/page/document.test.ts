import { expect, test } from 'vitest';
import { renderDocument, renderParts } from '../../src/page/document.ts';
import { readPageQuery } from '../../src/page/facts.ts';
import type { FileAnswer } from '../../src/page/file.ts';
import type { FileKey } from '../../src/domain/key.ts';
import type { ClusterFacts } from '../../src/domain/cluster-status.ts';
import { HALT, at, factsOf, hostOf, NOW_MS, unitOf, type Scene } from './facts.ts';

const NO_USAGE = { storage: null, vectorStorage: null, indexedFiles: null, largestFile: null };

const EVERYTHING = readPageQuery(new URLSearchParams());
const LOOKING = { kind: 'look-only' } as const;

function page(scene: Scene, search = ''): string {
  return renderDocument(factsOf(scene), readPageQuery(new URLSearchParams(search)), LOOKING, null);
}

/** What a person reads in a part. */
function read(id: string, scene: Scene, { search = '', mayAct = false } = {}): string {
  const parts = renderParts(factsOf(scene), readPageQuery(new URLSearchParams(search)), mayAct);
  return (parts.get(id) ?? '')
    .replace(/<[^>]*>/gu, ' ')
    .replace(/\s+/gu, ' ')
    .replace(/&#(\d+);/gu, (_, code: string) => String.fromCharCode(Number(code)))
    .trim();
}

/** An answer about a file where every text is this one. */
function explained(text: string): FileAnswer {
  return {
    ...{ kind: 'explained', file: text, fileId: text, isAsked: true, now: text },
    explanation: {
      ...{ source: text, path: text, key: text, botId: text, rules: [{ rule: 0, match: [text] }] },
      upsert: {
        key: text as FileKey,
        size: 1,
        contentType: text,
        index: true,
        tags: {},
        metadata: {},
        accessPolicies: [],
      },
      record: {
        ...{ state: 'synced', sha256: text, expiresAt: at(60), failure: text, changedAt: at(-60) },
        platform: { verdict: null, sentAt: at(-50), askedAt: at(-5), nextAskAt: at(5) },
        differs: 'content',
      },
      ...{ action: 'none', reason: text, fix: text },
    },
  };
}

const HOSTILE = [
  '<img src=x onerror=alert(1)>.md',
  '"><script>alert(1)</script>',
  "' onmouseover='alert(1)",
  'a\u202egnp.exe',
  'line\nbreak\u0007.md',
  `${'ä'.repeat(127)}x`,
];

test.each(HOSTILE)('the name %j stays a name wherever it stands', (name) => {
  const scene: Scene = {
    sources: [{ name, halted: name, toRemove: 1, syncedBy: name }],
    failures: [{ source: name, path: name, reason: name, retryAt: null }],
    running: { refusal: name, shortage: name, outage: { since: at(-5), nextTry: null, reason: name } },
    cluster: {
      ...{ host: name, trouble: name, held: [name], blocked: { [name]: name }, failed: { [name]: name } },
      units: [unitOf(name, name)],
      hosts: [hostOf(name, { version: name, isMe: true })],
    },
    facts: {
      host: name,
      commandEnd: name,
      sources: [
        {
          ...{ name, directory: name, botId: name, keyPrefix: name, wouldRemove: [name] },
          notices: { kind: 'watching', directories: 1 },
        },
      ],
      transfers: {
        ...{ bytesPerSecond: 1, filesPerSecond: 0, leftMs: null, firstPass: null },
        inFlight: [{ name, sizeBytes: 2_000_000, sentBytes: 1, forMs: 5 }],
      },
      renewals: [{ source: name, path: name, renewAtMs: NOW_MS, expiresAtMs: NOW_MS }],
      events: [{ id: 1, atMs: NOW_MS, level: 'warn', style: null, text: name }],
      usage: { usages: { ...NO_USAGE, storage: { used: 1, allowed: 2 } }, askedAtMs: NOW_MS },
      bots: [{ id: name, name }],
    },
  };
  const plain: Scene = {
    ...JSON.parse(JSON.stringify(scene).replaceAll(JSON.stringify(name).slice(1, -1), 'name')),
  } as Scene;
  const query = { file: name, source: name, kind: name, text: name, event: '', span: '24h' } as const;
  const written = renderDocument(factsOf(scene), query, { kind: 'locked', notice: name }, explained(name));
  const harmless = renderDocument(
    factsOf(plain),
    { file: 'name', source: 'name', kind: 'name', text: 'name', event: '', span: '24h' },
    { kind: 'locked', notice: 'name' },
    explained('name'),
  );
  // It adds no element and no attribute, and no control character to what is shown.
  expect(written.match(/<[a-z!/]/giu)?.length).toBe(harmless.match(/<[a-z!/]/giu)?.length);
  expect(written.match(/="/gu)?.length).toBe(harmless.match(/="/gu)?.length);
  expect(written.replace(/="[^"]*"/gu, '')).not.toMatch(
    /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/u,
  );
});

test('a source says where it is, how it stands, and what a halt would remove', () => {
  const scene: Scene = {
    sources: [
      { name: 'docs', halted: 'too many removals', halt: HALT, toRemove: 102, failed: 2 },
      { name: 'old', files: 0, bytes: 0, kept: 7 },
    ],
  };
  const { sources } = factsOf(scene);
  const [docs] = sources;
  const facts = docs === undefined ? [] : [{ ...docs, keyPrefix: 'kb/', wouldRemove: ['a.md', 'b.md'] }];
  const text = read('sources', { ...scene, facts: { sources: facts } });
  // The verdict has the reason.
  expect(text).toContain('docs /srv/docs Halted 102 files');
  const two = [...(scene.sources ?? []), { name: 'faq', halted: 'it is empty', halt: HALT }];
  expect(read('sources', { sources: two })).toContain('Halted: it is empty');
  expect(text).toContain('102 files would be removed from the platform a.md b.md … and 100 more');
  expect(text).toContain('1,204 files , 3.4 MB (1,204 searchable)');
  expect(text).toContain('2 failed , 102 to remove from the platform');
  expect(text).toContain('bot-1 , keys begin with kb/ Watching 3 directories');
  expect(text).toMatch(/old no longer configured .*7 kept on the platform \(no longer synced\)$/u);
});

const CLUSTER: ClusterFacts = {
  ...{ host: 'web1', trouble: null, held: ['faq'], blocked: {}, failed: {} },
  units: [
    unitOf('docs', 'web2', { epoch: 2 }),
    unitOf('faq', 'web1'),
    unitOf('old', 'web4', { isConfigured: false }),
  ],
  hosts: [
    hostOf('web4', { version: '1.2.2', alive: false }),
    hostOf('web3', {
      hindrances: [
        { kind: 'unseen', source: 'docs', unit: 1, halt: 'empty', reason: '/srv/docs has no files' },
      ],
    }),
    hostOf('web2'),
    hostOf('web1', { isMe: true }),
  ],
};

test('the hosts of a cluster, this one first, and what each of them syncs', () => {
  expect(read('hosts', { cluster: CLUSTER })).toBe(
    'Hosts 4 hosts web1 syncs faq (this host, botsync 1.2.3 )' +
      ' web4 silent , had old (botsync 1.2.2 )' +
      ' web3 on standby (botsync 1.2.3 ) does not see docs: /srv/docs has no files' +
      ' web2 syncs docs (botsync 1.2.3 )',
  );
  expect(page({ cluster: CLUSTER })).toContain('id="hosts"');
  expect(page({}), 'nothing of it without a cluster').not.toContain('id="hosts"');
});

test('nothing is said of hosts that cannot be heard of', () => {
  const text = read('hosts', { cluster: { ...CLUSTER, trouble: 'the database is gone' } });
  expect(text).toContain('web1 syncs faq (this host,');
  expect(text).toContain('web2 not heard of while the database is out of reach');
  const idle = read('hosts', { cluster: { ...CLUSTER, trouble: 'the database is gone', held: [] } });
  expect(idle).toContain('web1 takes no part (this host,');
});

test('a source that another host syncs says which, is not watched here, and can be acted on', () => {
  const sources = [{ name: 'docs', syncedBy: 'web2', halted: 'too many removals', halt: HALT }];
  const text = read('sources', { cluster: CLUSTER, sources }, { mayAct: true });
  expect(text).toContain('docs synced by web2 /srv/docs');
  expect(text).toContain('Approve docs Rescan docs');
  expect(text).not.toContain('Watching');
});

test('what is under way has its bytes, its rate, and the reasons of pauses with whose wish they are', () => {
  const text = read('under-way', {
    running: {
      activity: 'pass',
      queued: 2,
      outage: { since: at(-60), nextTry: at(20), reason: 'refused' },
    },
    facts: {
      transfers: {
        bytesPerSecond: 2_000_000,
        filesPerSecond: 51,
        leftMs: 65_000,
        firstPass: { files: 3, bytes: 5_000_000, ofFiles: 10, ofBytes: 20_000_000, part: 0.25 },
        inFlight: [
          { name: 'docs/a.mp4', sizeBytes: 9_000_000, sentBytes: 4_000_000, forMs: 2000 },
          ...['a', 'b'].map((name) => ({ name, sizeBytes: 10, sentBytes: 0, forMs: 1 })),
        ],
      },
      requests: {
        ...{ lastMinute: 3, limit: 600, pausedForMs: 12_000 },
        ...{ ownRequestsPerSecond: 5, ownBytesPerSecond: 1_000_000 },
      },
    },
  });
  expect(text).toContain('Under way 2 MB/s, about 1 min 5 s left');
  expect(text).toContain('Full pass running; 2 changes waiting');
  expect(text).toContain('3 of 10 files sent; 5 MB of 20 MB transferred');
  expect(text).toContain('the platform asked us to wait; continuing in 12 s');
  expect(text).toContain('the platform is unreachable; next attempt in 20 s');
  expect(text).toContain(
    'Limited to 5 requests/s (upload.maxRequestsPerSecond) and 1 MB/s (upload.maxBytesPerSecond)',
  );
  expect(text).toContain('docs/a.mp4 4 MB of 9 MB, started 2 s ago');
  expect(text).toContain('2 transfers of small files, 51 files/s');
});

const FAILURES = [
  { path: 'a.md', reason: '500: busy', retryAt: null },
  { path: 'b.md', kind: 'refused' as const, retry: 'change' as const, reason: '400: too large' },
  { source: 'faq', path: 'c.md', kind: 'unsearchable' as const, retry: 'change' as const, reason: 'no text' },
];
const SOURCES = [{ name: 'docs' }, { name: 'faq' }];

test('files that are not in sync are grouped by reason, with when each is retried and what helps', () => {
  const text = read('not-in-sync', { sources: SOURCES, failures: FAILURES });
  expect(text).toContain('Not in sync 3 files');
  expect(text).toMatch(/1 file failed: 500: busy ; retried in 1 min docs\/a\.md botsync retries by itself/u);
  expect(text).toContain('botsync rescan /srv/docs/a.md -c /etc/botsync.json');
  expect(text).toContain(
    '1 file refused: 400: too large ; retried when the file or its rules change docs/b.md',
  );
  expect(text).toContain('1 file not searchable: no text ;');
});

test.each([
  ['source=faq', ['faq/c.md']],
  ['kind=refused', ['docs/b.md']],
  ['kind=not+searchable', ['faq/c.md']],
  ['text=BUSY', ['docs/a.md']],
  ['text=docs%2F', ['docs/a.md', 'docs/b.md']],
  ['source=docs&text=c.md', []],
])('the filter %s shows %j', (search, expected) => {
  const text = read('not-in-sync', { sources: SOURCES, failures: FAILURES }, { search });
  expect(
    text.match(/\b(?:docs|faq)\/\w\.md(?! -c)/gu)?.filter((name) => !name.startsWith('srv')) ?? [],
  ).toEqual(expect.arrayContaining(expected));
  expect(text).toContain(`${expected.length} of 3 files`);
  if (expected.length === 0) expect(text).toContain('No file matches this filter.');
});

test('with ten thousand files that failed for ten thousand reasons a page stays small', () => {
  const failures = Array.from({ length: 10_000 }, (_, index) => ({
    path: `directory/${'long '.repeat(10)}${index}.md`,
    reason: `500: reason ${index} ${'x'.repeat(100)}`,
  }));
  const document = page({ failures });
  expect(document.length).toBeLessThan(200_000);
  expect(read('not-in-sync', { failures })).toContain('… and 9,975 files with other reasons');
  const alike = failures.map(({ path }) => ({ path, reason: 'the same' }));
  expect(page({ failures: alike }).length).toBeLessThan(200_000);
  expect(read('not-in-sync', { failures: alike })).toContain('… and 9,800 more files');
});

test('buttons are there for whoever signed in alone, and hold no token', () => {
  const scene: Scene = {
    sources: [{ name: 'docs', halted: 'too many', halt: HALT }],
    failures: [{ path: 'a b.md', reason: '500' }],
  };
  const markup = (mayAct: boolean): string =>
    [...renderParts(factsOf(scene), EVERYTHING, mayAct).values()].join('');
  expect(markup(false)).not.toContain('form="control"');
  expect(markup(true)).toContain('value="action=approve&#38;source=docs&#38;halt=1a"');
  expect(markup(true)).toContain('value="action=retry&#38;source=docs&#38;path=a+b.md"');
  const open = { kind: 'open', csrfToken: 'TOKEN', notice: 'docs was approved' } as const;
  const document = renderDocument(factsOf(scene), EVERYTHING, open, null);
  expect(document).toContain('<input type="hidden" name="csrf" value="TOKEN" />');
  expect(document).toContain('docs was approved');
  expect(markup(true)).not.toContain('TOKEN');
});

test('history is drawn by the quarter of an hour, with the limit, and said in words', () => {
  const minute = (minutesAgo: number, counts: object) => ({
    startMs: NOW_MS - minutesAgo * 60_000,
    spanMs: 60_000,
    ...{ sentFiles: 0, sentBytes: 0, updated: 0, adopted: 0, removed: 0, failed: 0, refused: 0 },
    ...{ requests: 0, throttled: 0, requestLimit: null },
    ...counts,
  });
  const scene: Scene = {
    facts: {
      history: [
        minute(1500, { sentFiles: 1000 }),
        minute(20, { sentFiles: 3, sentBytes: 1000, requests: 30, requestLimit: 600 }),
        minute(19, { sentFiles: 4, sentBytes: 2000, requests: 50, requestLimit: 600, failed: 2 }),
      ],
      requests: {
        ...{ lastMinute: 7, limit: 600, pausedForMs: 0 },
        ...{ ownRequestsPerSecond: null, ownBytesPerSecond: null },
      },
    },
  };
  const text = read('history', scene);
  expect(text).toContain('Files sent 7 files');
  expect(text).toContain('peak: 7 files in 15 min');
  expect(text).toContain('Bytes sent 3 kB');
  expect(text).toContain('Failures 2');
  expect(text).toContain('Requests 7 a minute now; the limit is 600 a minute');
  expect(text).toContain('peak: 50 a minute');
  expect(renderParts(factsOf(scene), EVERYTHING, false).get('history')).toContain('class="limit"');
});

test('renewals, events and quotas are listed; what is not known is left out', () => {
  const facts = {
    renewals: [
      { source: 'docs', path: 'a.md', renewAtMs: NOW_MS + 3_600_000, expiresAtMs: NOW_MS + 7_200_000 },
    ],
    events: [
      { id: 2, atMs: NOW_MS - 1000, level: 'error' as const, style: null, text: 'the disk is full' },
      {
        id: 1,
        atMs: NOW_MS - 60_000,
        level: 'info' as const,
        style: 'ok' as const,
        text: 'uploaded docs/a.md',
      },
    ],
    usage: {
      usages: { ...NO_USAGE, storage: { used: 5, allowed: 10 }, indexedFiles: { used: 3, allowed: null } },
      askedAtMs: NOW_MS - 60_000,
    },
  };
  expect(read('renewals', { facts })).toContain('docs/a.md in 2 h in 1 h');
  expect(read('events', { facts })).toMatch(
    /the last 2 Contains Filter 1 s ago error: the disk is full 1 min ago uploaded docs\/a\.md$/u,
  );
  expect(read('usage', { facts })).toContain('storage : 5 of 10 used indexed files : 3 used');
  const quotas = renderParts(factsOf({ facts }), EVERYTHING, false).get('usage');
  expect(quotas?.match(/<progress[^>]*>/gu)).toEqual(['<progress max="10" value="5" aria-label="storage">']);
  expect(read('usage', {})).toBe('');
});

test('many events of one kind are one line; a filter shows them one by one', () => {
  const removed = Array.from({ length: 41 }, (_, index) => ({
    ...{ id: index + 2, atMs: NOW_MS - 1000, level: 'info' as const, style: 'aside' as const },
    text: `removed docs/${index}.md`,
  })).reverse();
  const sent = { id: 1, atMs: NOW_MS - 9000, level: 'info' as const, style: 'ok' as const };
  const facts = { events: [...removed, { ...sent, text: 'uploaded docs/a.md' }] };
  expect(read('events', { facts })).toContain('41 removed removed docs/40.md');
  const notes = removed.map((event) => ({ ...event, style: null }));
  expect(read('events', { facts: { events: notes } }), 'messages of the log').not.toContain('41 removed');
  const found = read('events', { facts }, { search: 'event=DOCS/1' });
  expect(found).toContain('Events 11 of 42');
  expect(found).not.toContain('11 removed');
  expect(read('events', { facts }, { search: 'event=nothing' })).toContain('No event matches this filter.');
});

test('the span of the charts is chosen by the address, and kept by the filters', () => {
  const parts = (search: string): ReadonlyMap<string, string> =>
    renderParts(factsOf({ failures: FAILURES }), readPageQuery(new URLSearchParams(search)), false);
  expect(parts('span=1h&text=a').get('history')).toContain('Last hour');
  expect(parts('span=1h&text=a').get('history')).toContain('href="/?text=a&#38;span=30d#history"');
  expect(parts('').get('history')).toContain('Last 24 hours');
  expect(parts('span=2h').get('history')).toContain('Last 24 hours');
  expect(parts('span=1h').get('not-in-sync')).toContain('<input type="hidden" name="span" value="1h" />');
});

test('a trouble is told once: the first in the verdict, the others below', () => {
  const sources = [{ name: 'docs', halted: 'too many removals', halt: HALT }];
  const outage = { since: at(-60), nextTry: at(20), reason: 'connection refused' };
  const scene: Scene = { sources, running: { outage } };
  const document = page(scene).replace(/<title.*?<\/title>/gsu, '');
  expect(document.match(/too many removals/gu)).toHaveLength(1);
  expect(read('not-in-sync', scene)).toContain('THE PLATFORM IS UNREACHABLE');
  expect(read('not-in-sync', { sources })).toBe('Not in sync Nothing else.');
  const failed = page({ failures: [{ path: 'a.md', reason: '500' }] });
  expect(failed.match(/botsync retries by itself/gu)).toHaveLength(1);
});

test('an outage is no time of waiting for changes, and comes before a file that is refused', () => {
  const outage = { since: at(-60), nextTry: at(20), reason: 'connection refused' };
  const refused = { ...{ path: 'a.md', reason: '400: no' }, kind: 'refused', retry: 'change' } as const;
  const scene: Scene = { running: { outage }, failures: [refused] };
  expect(read('verdict', scene)).toContain('The platform is unreachable');
  expect(read('under-way', scene)).not.toContain('Waiting for changes');
});

test('a pause by a command is said with what waits and what ends it, and is no time of waiting for changes', () => {
  const sources = [{ name: 'docs', pending: 11, toRemove: 1 }];
  const refused = { ...{ path: 'a.md', reason: '400: no' }, kind: 'refused', retry: 'change' } as const;
  const scene = (until: string | null): Scene => ({
    ...{ sources, failures: [refused] },
    running: { pause: { since: at(-60), until } },
  });
  expect(read('verdict', scene(null))).toMatch(/Paused by a command 12 changes wait\. .* botsync resume/u);
  expect(read('verdict', scene(at(3600)))).toMatch(/Paused until [\d: -]+ by a command 12 changes wait\./u);
  expect(read('under-way', scene(null))).toContain('Paused');
  expect(read('under-way', scene(null))).not.toContain('Waiting for changes');
});

test('whose files they are comes first, and how old the knowledge is', () => {
  const known = factsOf().known;
  const lastVerification = {
    ...{ compared: 1, same: 1, foreign: 0, busy: 0, unread: 0, reasons: {}, finishedAt: at(-3 * 3600) },
  };
  const configuration = { file: '/b.json', loadedAt: at(-7200), problem: null };
  const scene: Scene = { running: { configuration }, facts: { known: { ...known, lastVerification } } };
  expect(read('whose', scene)).toBe('Velo rentals bot-1 · botsync on web1');
  expect(read('verdict', scene)).toContain(
    'confirmed 12 s ago · compared with the bot 3 h ago · configuration in use for 2 h',
  );
  const event = (id: number, level: 'info' | 'error', secondsAgo: number) => ({
    ...{ id, level, style: null, text: 'a text' },
    atMs: Date.parse(at(-secondsAgo)),
  });
  const events = [event(4, 'info', 3), event(3, 'error', 5), event(2, 'error', 8), event(1, 'error', 60)];
  const failed = { ...{ path: 'a.md', reason: '400: no' }, kind: 'refused', retry: 'change' } as const;
  // The oldest trouble is from before everything was in sync.
  expect(read('verdict', { failures: [failed], facts: { events } })).toContain(
    '( 8 s ago ) · last in sync 12 s ago',
  );
  const unnamed = [
    { id: 'bot-1', name: null },
    { id: 'bot-2', name: 'Shop' },
  ];
  expect(read('whose', { facts: { bots: unnamed } })).toBe('bot-1, Shop botsync on web1');
});

test('without scripts the page is whole, and names nothing outside itself', () => {
  const document = page({});
  for (const id of renderParts(factsOf(), EVERYTHING, false).keys()) expect(document).toContain(`id="${id}"`);
  expect(document.match(/(?:src|href|action)="(?!\/|#|data:,)/gu)).toBeNull();
  expect(document).toContain('<html lang="en">');
});
