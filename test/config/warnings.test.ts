import { expect, test } from 'vitest';
import { configText, linesOf } from './fixture.ts';
import { expectLines, platform, rule, source, type Row } from './problem-rows.ts';

const KNOWLEDGE = { source: 'knowledge-base', kbId: 'kb-1' };

/** A configuration that is taken, and the warning that it draws. */
const warnings: readonly (readonly [Row[0], line?: Row[1]])[] = [
  [
    platform({ baseUrl: 'http://x.example' }),
    'platform.baseUrl: the token would be sent unencrypted; write "https://"',
  ],
  [platform({ chatUrl: 'http://x.example' }), /^platform\.chatUrl: the user key would be sent unencrypted/u],
  [platform({ baseUrl: 'http://localhost:8787', chatUrl: 'http://127.0.0.2:1' })],
  [platform({ baseUrl: 'http://[::1]:8787' })],
  [{ ...platform({ operations: 'auto' }), removals: { mode: 'delete' } }],
  [{ ...platform({ operations: 'specified' }), removals: { mode: 'expire' } }],
  [
    { ...platform({ operations: 'specified' }), removals: { mode: 'delete' } },
    'removals.mode: files expire instead, because platform.operations is "specified"; write "expire" here, or "auto" there',
  ],
  [{ service: { listen: '127.1.2.3:9464' } }],
  [{ service: { listen: '[::1]:9464' } }],
  [{ service: { listen: '[::ffff:127.0.0.1]:9464' } }],
  [{ service: { listen: '127.0.0.1:9464', control: 'env:BOTSYNC_CONTROL' } }],
  ...['0.0.0.0', '[::]', '10.0.0.1', '[::ffff:10.0.0.1]'].map((host): [Row[0], Row[1]] => [
    { service: { listen: `${host}:9464` } },
    /^service\.listen: everybody who can reach this address may read .*; write "127\.0\.0\.1:9464" unless/u,
  ]),
  [
    platform({ baseUrl: 'https://api.botpress.cloud/v1/' }),
    /^platform\.baseUrl: botsync adds "\/v1" itself/u,
  ],
  [
    source({ keyPrefix: 'docs' }),
    /^sources\[0\]\.keyPrefix: the key of "a\.md" would be "docsa\.md"; write "docs\/"/u,
  ],
  [source({ keyPrefix: 'v1-' })],
  [rule({ match: '!*.md' }), /^rules\[0\]\.match: "!\*\.md" matches names that begin with "!"/u],
  [rule({ match: ['**', '!drafts/**'] }), /^rules\[0\]\.match\[1\]: one matching pattern is enough/u],
  [rule({ match: '!drafts/**' })],
  [rule({ match: '!(index).md' })],
  [rule({ expiresIn: '10d', renewBefore: '1d', renew: false }), /^rules\[0\]\.renewBefore: has no effect/u],
  [
    rule({ publicContentImmediatelyAccessible: true }),
    /^rules\[0\]\.publicContentImmediatelyAccessible: needs "public_content"/u,
  ],
  [rule({ publicContentImmediatelyAccessible: true, accessPolicies: ['public_content'] })],
  [
    rule({ tags: KNOWLEDGE }),
    /^rules\[0\]\.tags\.source: a knowledge base file needs "index": true; without it the platform's web studio/u,
  ],
  [rule({ tags: KNOWLEDGE, index: true })],
  [
    {
      rules: [
        { match: '**', index: true },
        { match: 'kb/**', tags: KNOWLEDGE },
      ],
    },
  ],
  [
    {
      rules: [
        { match: '**', index: true },
        { match: 'kb/**', tags: KNOWLEDGE, index: false },
      ],
    },
    /web studio/u,
  ],
  [
    {
      rules: [
        { match: '*.md', index: true },
        { match: '*.md', tags: KNOWLEDGE },
      ],
    },
  ],
  [
    {
      rules: [
        { match: '*.md', index: true },
        { match: '**', tags: KNOWLEDGE },
      ],
    },
    /web studio/u,
  ],
  [
    {
      rules: [
        { match: '**', index: true, source: 'docs' },
        { match: '**', tags: KNOWLEDGE },
      ],
    },
    /web studio/u,
  ],
];

test.each(warnings.map(([fields, line]) => ({ fields, line })))(
  '$fields is taken, and draws $line',
  ({ fields, line }) => {
    const told = linesOf(configText(fields));
    expect(told.problems).toEqual([]);
    expectLines(told.warnings, line === undefined ? [] : [line]);
  },
);

test('a secret for the page at an address that others reach draws a warning of its own', () => {
  const told = linesOf(configText({ service: { listen: '10.0.0.1:9464', control: 'env:BOTSYNC_CONTROL' } }));
  expectLines(told.warnings, [
    /^service\.listen: everybody/u,
    /^service\.control: the secret would be sent unencrypted to this address; listen at "127\.0\.0\.1"/u,
  ]);
});
