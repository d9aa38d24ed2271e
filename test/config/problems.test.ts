import { expect, test } from 'vitest';
import { configText, linesOf } from './fixture.ts';
import { expectLines, platform, rule, SOURCE, source, type Row } from './problem-rows.ts';

const errors: readonly Row[] = [
  // Names
  [{ platfrom: {} }, 'platfrom: unknown field; did you mean "platform"?'],
  [{ concurrency: 1 }, 'concurrency: unknown field; did you mean "upload.concurrency"?'],
  [source({ Botid: 'x' }), 'sources[0].Botid: unknown field; did you mean "botId"?'],
  [source({ keyPrefx: 'a/' }), 'sources[0].keyPrefx: unknown field; did you mean "keyPrefix"?'],
  [{ upload: { zzz: 1 } }, /^upload\.zzz: unknown field; known fields: concurrency, attempts, /u],
  [{ 'odd\u009b name': 1 }, /^\["odd\\u009b name"\]: unknown field; known fields: platform, /u],
  ...['removals', 'limits', 'watch', 'service'].map((block): Row => [
    { [block]: { zzz: 1 } },
    /^\w+\.zzz: unknown/u,
  ]),
  [platform({ zzz: 1 }), /^platform\.zzz: unknown field; known fields: baseUrl, /u],
  [platform({ identity: { zzz: '' } }), /^platform\.identity\.zzz: unknown field/u],
  [platform({ chat: { webhookId: 'w', userKey: 'env:K', zzz: 1 } }), /^platform\.chat\.zzz: unknown field/u],
  [rule({ zzz: 1 }), /^rules\[0\]\.zzz: unknown field; known fields: match, source, index/u],
  // Kinds
  [{ sources: [] }, /^sources: is empty, so there is nothing to sync; add a source such as/u],
  [{ sources: undefined }, /^sources: is missing; write a list, for example \[/u],
  [{ sources: {} }, /^sources: expected a list, found an object/u],
  [{ sources: ['./docs'] }, 'sources[0]: expected an object, found a string'],
  [{ sources: [{ name: 'a' }] }, 'sources[0].directory: is missing; write a string, for example "./docs"'],
  [
    { upload: { attempts: '5' } },
    'upload.attempts: expected a number, found "5"; write it without quotes: 5',
  ],
  [{ upload: { attempts: 1.5 } }, 'upload.attempts: expected a whole number, found 1.5; for example 5'],
  [{ upload: { concurrency: 0 } }, 'upload.concurrency: is 0; write at least 1'],
  [{ upload: { attempts: 101 } }, 'upload.attempts: is 101; write at most 100'],
  [{ upload: { maxBytesPerSecond: 0 } }, 'upload.maxBytesPerSecond: is 0; write at least 1'],
  [{ upload: { concurrency: 257 } }, 'upload.concurrency: is 257; write at most 256'],
  [{ limits: { indexBytes: '95MB' } }, 'limits.indexBytes: expected a number, found "95MB"; write 95000000'],
  ...(
    [
      ['5 MiB', '5242880'],
      ['1.5GB', '1500000000'],
      ['5_000_000', '5000000'],
      ['5,000,000', '5000000'],
      ['10 mb/s', '10000000'],
      ['64k', '64000'],
    ] as const
  ).map(([written, meant]): Row => [
    { limits: { fileBytes: written } },
    `limits.fileBytes: expected a number, found "${written}"; write ${meant}`,
  ]),
  ...(
    [
      ['5 apples', ': "5 apples" is not a size; write for example "1MB"'],
      [0, ': is 0; write at least 1'],
      ['0.1B', ': "0.1B" is less than a byte; write at least 1'],
      [true, ': expected a number, a string or an object, found true; for example 1000000'],
      [{}, ': has no hours; write for example { "08:00-18:00": "1MB" }, or null for no limit'],
      [{ '8-18': '1MB' }, '.8-18: "8-18" is not a range of hours; write "08:00-18:00"'],
      [{ day: '1MB' }, '.day: "day" is not a range of hours; write for example "08:00-18:00"'],
      [{ '22:00-24:30': 1 }, '["22:00-24:30"]: "22:00-24:30" ends after midnight; write "24:00" at most'],
      [
        { '08:00-08:00': 1 },
        '["08:00-08:00"]: "08:00-08:00" is empty; for the whole day write the limit without hours',
      ],
      [{ '08:00-18:00': 'fast' }, '["08:00-18:00"]: "fast" is not a size; write for example "1MB"'],
      [{ '08:00-18:00': 0 }, '["08:00-18:00"]: is 0; write at least 1'],
      [{ '08:00-18:00': null }, '["08:00-18:00"]: expected a number or a string, found null'],
      ...(
        [
          ['08:00-18:00', '17:59-20:00'],
          ['22:00-06:00', '05:59-07:00'],
          ['22:00-06:00', '21:00-22:01'],
          ['20:00-04:00', '23:00-02:00'],
          ['09:00-10:00', '00:00-24:00'],
        ] as const
      ).map(([first, second]): [object, string] => [
        { [first]: 1, [second]: 2 },
        `["${second}"]: overlaps "${first}"; write ranges of which only one counts at a time`,
      ]),
    ] as const
  ).map(([written, message]): Row => [
    { upload: { maxBytesPerSecond: written } },
    `upload.maxBytesPerSecond${message}`,
  ]),
  [
    { limits: { fileBytes: '5 apples' } },
    'limits.fileBytes: expected a number, found "5 apples"; for example 1000000000',
  ],
  [{ removals: { maxCount: '5MB' } }, 'removals.maxCount: expected a number, found "5MB"; for example 100'],
  [{ removals: { maxFraction: '50%' } }, 'removals.maxFraction: expected a number, found "50%"; write 0.5'],
  [{ limits: { fileBytes: -1 } }, 'limits.fileBytes: is -1; write at least 1'],
  [
    { watch: { poll: 'true' } },
    'watch.poll: expected true or false, found "true"; write it without quotes: true',
  ],
  [
    { removals: { mode: 'Expire' } },
    'removals.mode: is "Expire"; write "expire" (one of "keep", "expire", "delete")',
  ],
  [{ removals: { mode: 'erase' } }, 'removals.mode: is "erase"; write one of "keep", "expire", "delete"'],
  [
    { rules: [{ match: '*', metadata: { botsync: 1 } }] },
    "rules[0].metadata.botsync: is reserved for botsync's mark; use another name",
  ],
  [{ removals: { maxFraction: 0 } }, 'removals.maxFraction: is 0; write more than 0'],
  [{ removals: { maxFraction: 1.1 } }, 'removals.maxFraction: is 1.1; write at most 1'],
  [{ removals: { maxCount: 0 } }, 'removals.maxCount: is 0; write at least 1'],
  [platform({ botId: 12 }), 'platform.botId: expected a string, found 12; write it as a string: "12"'],
  // Durations and moments
  [{ watch: { rescan: '15 minutes' } }, 'watch.rescan: "15 minutes" is not a duration; write "15m"'],
  [{ watch: { rescan: '1.5 hours' } }, 'watch.rescan: "1.5 hours" is not a duration; write "90m"'],
  [{ watch: { rescan: '1y' } }, 'watch.rescan: "1y" is not a duration; write at most "24d"'],
  [rule({ expiresIn: '1y' }), 'rules[0].expiresIn: "1y" is not a duration; write at most "90d"'],
  [rule({ expiresIn: '2 months' }), 'rules[0].expiresIn: "2 months" is not a duration; write "60d"'],
  [rule({ renewBefore: '1y' }), 'rules[0].renewBefore: "1y" is not a duration; write at most "45d"'],
  [{ notify: { conversationId: 'c', quiet: '1y' } }, 'notify.quiet: "1y" is not a duration; write "365d"'],
  [
    { watch: { rescan: '15' } },
    /^watch\.rescan: "15" is not a duration; add a unit, such as "15s" or "15m"/u,
  ],
  [{ watch: { rescan: '' } }, /^watch\.rescan: "" is not a duration; write a number and one of the units/u],
  [{ watch: { rescan: '-5m' } }, /^watch\.rescan: "-5m" is not a duration; write a number/u],
  [{ watch: { rescan: '0m' } }, 'watch.rescan: "0m" is zero; write at least "1ms"'],
  [
    { watch: { rescan: 15 } },
    'watch.rescan: expected a string, found 15; write it with a unit, such as "15m"',
  ],
  [{ watch: { rescan: '25d' } }, 'watch.rescan: "25d" is too long; write at most "24d"'],
  [
    { watch: { settle: '11s' } },
    /^watch\.maxDelay: a file would be sent before it has settled: watch\.settle is 11s/u,
  ],
  [
    rule({ renewBefore: 5 }),
    'rules[0].renewBefore: expected a string, found 5; write it with a unit, such as "15m"',
  ],
  [
    rule({ expiresAt: '2026-12-31' }),
    'rules[0].expiresAt: "2026-12-31" is not a moment; write "2026-12-31T00:00:00Z"',
  ],
  [
    rule({ expiresAt: '2026-12-31T10:00' }),
    'rules[0].expiresAt: "2026-12-31T10:00" is not a moment; write "2026-12-31T10:00:00Z"',
  ],
  [
    rule({ expiresAt: '2026-02-30T10:00:00Z' }),
    /^rules\[0\]\.expiresAt: .* is not a moment; write one with its zone/u,
  ],
  // Service
  ...(
    [
      ['localhost:9464', '127.0.0.1:9464'],
      [':9464', '127.0.0.1:9464'],
      ['*:80', '127.0.0.1:80'],
      ['9464', '127.0.0.1:9464'],
      ['example.org:9464', '127.0.0.1:9464'],
      ['127.0.0.1', '127.0.0.1:9464'],
      ['127.0.0.1:', '127.0.0.1:9464'],
      ['::1:9464', '127.0.0.1:9464'],
      ['[127.0.0.1]:9464', '127.0.0.1:9464'],
      ['127.0.0.256:9464', '127.0.0.1:9464'],
      ['[fe80::1%eth0]:9464', '127.0.0.1:9464'],
      ['', '127.0.0.1:9464'],
    ] as const
  ).map(([listen, fix]): Row => [
    { service: { listen } },
    `service.listen: "${listen}" is not an IP address and a port; write for example "${fix}"`,
  ]),
  [
    { service: { listen: '127.0.0.1:65536' } },
    'service.listen: port 65536 does not exist; write one up to 65535',
  ],
  [
    { service: { control: 'env:BOTSYNC_CONTROL' } },
    'service.control: is for the page, and there is none; add "listen": "127.0.0.1:9464" beside it',
  ],
  [
    { service: { listen: null, control: 'file:control' } },
    /^service\.control: is for the page, and there is none/u,
  ],
  [{ service: { hangTimeout: '500ms' } }, 'service.hangTimeout: "500ms" is too short; write at least "1s"'],
  [{ service: { listen: 9464 } }, /^service\.listen: expected a string, found 9464/u],
  [{ listen: '127.0.0.1:9464' }, 'listen: unknown field; did you mean "service.listen"?'],
  // Notify
  [{ notify: {} }, /^notify\.conversationId: is missing; write the id of a conversation, or/u],
  [
    { notify: { conversationId: 'c', conversation: { channel: 'channel' } } },
    /^notify\.conversationId: cannot be combined with conversation; /u,
  ],
  [{ notify: { conversation: {} } }, /^notify\.conversation\.channel: is missing; write a string/u],
  [
    { notify: { conversation: { channel: 'x'.repeat(201) } } },
    "notify.conversation.channel: has 201 characters; a channel's name has at most 200",
  ],
  [
    { notify: { conversation: { channel: 'c', integration: { name: '..' } } } },
    /^notify\.conversation\.integration\.name: "\.\." is not the name or version of an integration/u,
  ],
  [{ notify: { conversationId: 'c', on: ['fails'] } }, /^notify\.on\[0\]: is "fails"; write /u],
  [
    { notify: { conversationId: 'c', summaryEvery: '10s' } },
    'notify.summaryEvery: "10s" is too often; write at least "1m"',
  ],
  [
    { notify: { conversationId: 'c', announce: [{ match: '*.mp3' }] } },
    /^notify\.announce: these files would not be accessible, because no rule gives "public_content"/u,
  ],
  [
    { notify: { conversationId: 'c', zzz: 1 } },
    /^notify\.zzz: unknown field; known fields: conversationId, /u,
  ],
  // Platform
  [
    platform({ baseUrl: 'api.botpress.cloud' }),
    /is not an http\(s\) address; write for example "https:\/\/api\.botpress\.cloud"$/u,
  ],
  [platform({ baseUrl: 'ftp://x' }), /^platform\.baseUrl: "ftp:\/\/x" is not an http\(s\) address/u],
  [platform({ baseUrl: 'https://x/?a=1' }), /^platform\.baseUrl: this address must not have a query/u],
  [
    platform({ chatUrl: 'https://x/#a' }),
    /^platform\.chatUrl: this address must not have a query or a fragment/u,
  ],
  [
    platform({ botId: 'a b' }),
    'platform.botId: contains a space or a character that ids do not have; write only the id',
  ],
  [platform({ botId: '…' }), 'platform.botId: is still the placeholder from the example; write the id'],
  [platform({ workspaceId: '' }), 'platform.workspaceId: is empty; write the id, or remove the field'],
  [
    platform({ chat: { webhookId: 'https://x/y', userKey: 'env:K' } }),
    /^platform\.chat\.webhookId: is an address; write only its last part/u,
  ],
  [
    platform({ identity: { userRole: 'a\nb' } }),
    /^platform\.identity\.userRole: cannot be sent in a header/u,
  ],
  [platform({ token: 'file:~/token' }), /^platform\.token: "file:" needs a path: "~" is not expanded/u],
  [{ platform: {} }, /^platform\.botId: is missing, and sources\[0\] without a botId of its own has no bot/u],
  [{ platform: undefined }, /^platform\.botId: is missing/u],
  // Sources
  [
    source({ directory: '~/docs' }),
    /^sources\[0\]\.directory: "~" is not expanded here; write the whole path/u,
  ],
  ...(
    [
      ['$HOME/docs', '"$HOME"'],
      ['${HOME}', '"$HOME"'],
      ['~bot/docs', '"~"'],
      ['$DATA', 'a variable'],
      ['%USERPROFILE%/docs', 'a variable'],
    ] as const
  ).map(([directory, name]): Row => [
    source({ directory }),
    `sources[0].directory: ${name} is not expanded here; write the whole path, or one relative to this file`,
  ]),
  [
    platform({ token: 'file:$bp_pat_secret' }),
    /^platform\.token: "file:" needs a path: a variable is not expanded here; [^$]*$/u,
  ],
  [
    platform({ botId: '' }),
    'platform.botId: is empty; write the id of the bot ("botsync init" offers the bots of a workspace)',
  ],
  [source({ directory: 'a\0b' }), 'sources[0].directory: contains a NUL character; write a path'],
  [source({ directory: ' ' }), 'sources[0].directory: is empty; write a path'],
  [source({ directory: '/' }), 'sources[0].directory: this directory has no name of its own; add "name"'],
  [source({ name: ' a' }), /^sources\[0\]\.name: " a" cannot be a name/u],
  [source({ keyPrefix: '/a/' }), /^sources\[0\]\.keyPrefix: "\/a\/" starts with "\/".*; write "a\/"$/u],
  [
    source({ name: 'a\ud83d' }),
    'sources[0].name: "a\\ud83d" cannot be a name, because it contains half of a character; write it without "\\ud83d"',
  ],
  [
    { ...source({ name: 'docs' }), ...rule({ source: 'docs\udc00' }) },
    /^rules\[0\]\.source: "docs\\udc00" cannot be a name, because it contains half of a character; /u,
  ],
  [
    source({ keyPrefix: '\ude42\ud83d/' }),
    'sources[0].keyPrefix: "\\ude42\\ud83d/" contains half of a character; write it without "\\ude42"',
  ],
  [
    source({ directory: './a\ud83d' }),
    'sources[0].directory: contains half of a character; write it without "\\ud83d"',
  ],
  [source({ keyPrefix: 'a\tb/' }), /^sources\[0\]\.keyPrefix: .* contains a control character/u],
  [source({ keyPrefix: 'a\\b/' }), /^sources\[0\]\.keyPrefix: .* contains a backslash; write "a\/b\/"/u],
  [source({ ignore: [''] }), /^sources\[0\]\.ignore\[0\]: is empty/u],
  [source({ ignore: ['**/a/**/b/**/c'] }), /^sources\[0\]\.ignore\[0\]: .* crosses directories more than 2/u],
  [source({ symlinks: 'folow' }), /^sources\[0\]\.symlinks: is "folow"; write "follow"/u],
  [
    { sources: [SOURCE, { directory: './x/docs' }] },
    /^sources\[1\]\.directory: this source would be named "docs", .*; add "name" to one of them$/u,
  ],
  [
    { sources: [SOURCE, { directory: './x', name: 'docs' }] },
    'sources[1].name: sources[0] is named "docs" as well; give this one another name',
  ],
  [{ stateFile: 'c.json' }, /^stateFile: is this configuration file itself/u],
  [{ stateFile: 'state/' }, 'stateFile: "state/" is a directory; write the path of a file'],
  [
    { limits: { indexableExtensions: ['tar.gz'] } },
    /^limits\.indexableExtensions\[0\]: "tar\.gz" is not an extension/u,
  ],
  // Rules
  [{ rules: [{}] }, /^rules\[0\]\.match: is missing; write a string or a list of strings, for example/u],
  [
    rule({ match: 5 }),
    'rules[0].match: expected a string or a list of strings, found 5; for example "**/*.pdf"',
  ],
  [rule({ match: [] }), /^rules\[0\]\.match: is empty, so the rule would match nothing/u],
  [rule({ match: '' }), /^rules\[0\]\.match: is empty; write a pattern/u],
  [rule({ match: ['*.md', 5] }), /^rules\[0\]\.match\[1\]: expected a string, found 5/u],
  [rule({ match: ['*.md', '[z-a]'] }), /^rules\[0\]\.match\[1\]: "\[z-a\]" is not a pattern/u],
  [
    rule({ match: 'drafts/' }),
    'rules[0].match: "drafts/" matches no file, because it ends with "/"; write "drafts/**"',
  ],
  [rule({ source: 'dosc2' }), 'rules[0].source: source "dosc2" not found; the sources are "docs"'],
  [rule({ source: ['docs', 'doc'] }), 'rules[0].source[1]: source "doc" not found; did you mean "docs"?'],
  [rule({ source: [] }), /^rules\[0\]\.source: is empty, so the rule would apply to no source/u],
  [rule({ tags: { a: 1 } }), 'rules[0].tags.a: expected a string, found 1; write it as a string: "1"'],
  [rule({ tags: { 'a b': 'x'.repeat(1001) } }), /^rules\[0\]\.tags\["a b"\]: has 1,001 characters/u],
  [rule({ tags: { '': 'x' } }), 'rules[0].tags[""]: a tag needs a name'],
  [rule({ metadata: [] }), /^rules\[0\]\.metadata: expected an object, found a list/u],
  [rule({ indexing: true }), /^rules\[0\]\.indexing: expected an object, found true/u],
  [
    rule({ contentType: 'text' }),
    'rules[0].contentType: "text" is not a content type; write for example "text/markdown"',
  ],
  [rule({ contentType: 'text/plain\r\nx: y' }), /is not a content type/u],
  [
    rule({ accessPolicies: ['public'] }),
    'rules[0].accessPolicies[0]: is "public"; write one of "public_content", "integrations"',
  ],
  [rule({ whenTooLargeToIndex: 'ship' }), /^rules\[0\]\.whenTooLargeToIndex: is "ship"; write "skip"/u],
  [
    rule({ expiresIn: '1d', expiresAt: '2026-12-31T00:00:00Z' }),
    'rules[0].expiresAt: cannot be combined with expiresIn in one rule',
  ],
  [
    rule({ expiresIn: null, expiresAt: '2026-12-31T00:00:00Z' }),
    /^rules\[0\]\.expiresAt: cannot be combined/u,
  ],
  [
    rule({ expiresAt: '2026-12-31T00:00:00Z', renew: false }),
    /^rules\[0\]\.renew: has no effect with expiresAt/u,
  ],
  [
    rule({ expiresAt: '2026-12-31T00:00:00Z', renewBefore: '1d' }),
    /^rules\[0\]\.renewBefore: has no effect/u,
  ],
  [
    rule({ expiresIn: '1d', renewBefore: '24h' }),
    /^rules\[0\]\.renewBefore: is not shorter than expiresIn \(1d\); write at most half of it, "12h"$/u,
  ],
  [rule({ expiresIn: '30s' }), /^rules\[0\]\.expiresIn: "30s": .*write at least "1m"$/u],
  [rule({ expiresIn: `${'9'.repeat(30)}w` }), /^rules\[0\]\.expiresIn: "9+w" is too long$/u],
  [rule({ expiresIn: '91d' }), /^rules\[0\]\.expiresIn: "91d": .*write at most "90d"$/u],
];

test.each(errors)('%j is refused', (fields, line) => {
  expectLines(linesOf(configText(fields)).problems, [line]);
});

test('a name that is not understood draws no further problems', () => {
  const sources = [
    { directory: './docs', name: ' a' },
    { directory: './docs', name: ' b' },
  ];
  const { problems } = linesOf(configText({ sources, rules: [{ match: '**', source: 'zzz' }] }));
  expect(problems).toHaveLength(2);
});

test('many rules are no deep nesting', () => {
  const rules = Array.from({ length: 200 }, () => ({ match: ['**'] }));
  expect(linesOf(configText({ rules })).problems).toEqual([]);
});
