import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { loadConfig, parseConfig, type ConfigResult } from '../../src/config/load-config.ts';
import { renderProblem } from '../../src/config/problem.ts';
import { suggestContentType, compileRules } from '../../src/domain/rules.ts';
import { prepareUpsert } from '../../src/domain/limits.ts';
import { fileKey, type RelativePath } from '../../src/domain/key.ts';
import { createFilter } from '../../src/files/filter.ts';
import { expectPresentable, fuzz, jsonValues, pieces, wordsOf } from './edge.ts';

const FULL = `{
  // Everything at least once.
  "$schema": "./config.schema.json",
  "platform": {
    "baseUrl": "https://api.botpress.cloud", "chatUrl": "https://chat.botpress.cloud",
    "workspaceId": "w", "botId": "b", "token": "env:BOTSYNC_TOKEN",
    "chat": { "webhookId": "h", "userKey": "file:./key" },
    "identity": { "integrationId": "i", "integrationAlias": "a", "userId": "u", },
  },
  "sources": [
    { "name": "docs", "directory": "./docs", "keyPrefix": "docs/", "ignore": ["drafts/", "*.tmp"], "symlinks": "inside" },
    { "directory": "/srv/more", "botId": "c" }
  ],
  "rules": [
    { "match": "**", "tags": { "managed-by": "botsync" } },
    { "match": ["**/*.pdf", "*.md"], "index": true, "indexing": {}, "metadata": { "a": [1, null] }, "contentType": "text/plain" },
    { "match": "r/**", "source": "docs", "expiresIn": "30d", "renewBefore": "2d", "accessPolicies": ["public_content"] },
    { "match": "x", "expiresAt": "2026-12-31T00:00:00Z", "whenTooLargeToIndex": "skip", "publicContentImmediatelyAccessible": true },
  ],
  "limits": { "indexBytes": 95000000, "fileBytes": 1000000000, "indexableExtensions": ["pdf"] },
  "removals": { "mode": "expire", "delay": "1m", "maxCount": 100, "maxFraction": 0.5 },
  "upload": { "concurrency": 8, "attempts": 5, "stallTimeout": "30s", "giveUpAfter": "2m", "maxBytesPerSecond": 1e6 },
  "watch": { "settle": "500ms", "maxDelay": "10s", "rescan": "15m", "poll": false, "pollInterval": "10s" },
  "service": { "listen": "127.0.0.1:9464" },
  "cluster": {
    "database": "env:BOTSYNC_DATABASE", "schema": "botsync", "host": "web1", "lease": "10s",
    "suspectAfter": "20m",
  },
  "stateFile": ".botsync/state.db" /* the end */
}`;

const NAMES = [...FULL.matchAll(/"([$\w]+)":/gu)].map(([, name = '']) => name);

/** What a configuration is written with, and what nobody should write there. */
const WORDS = [
  ...wordsOf('{ } [ ] , : " // /* */'),
  '\\',
  '\n',
  '\r\n',
  '\u2028',
  '\ufeff',
  '\0',
  '\ud800',
  ...wordsOf('null true false 0 -0 1e999 -1 0.1 1e-9 9007199254740993 "__proto__":1,'),
  ...wordsOf('"constructor": "toString":{} "1ms" "0s" "1e9w" "999999999999w" "90d" "24.9d" "[z-a]"'),
  ...wordsOf('"!**" "{a,b" "+(+(a))" "~/x" "../.." "/" "." "env:" "file:"'),
  '"\\u0000"',
  '"\\ud800"',
  ...wordsOf(`
    "credential:.." "[::1]:0" "0.0.0.0:99999" "http://u:p@h" "https://[::" "+275760-09-13T00:00:00Z"
  `),
  ...NAMES.map((name) => `"${name}":`),
];

/** The full configuration with stretches of it cut out, doubled or written over. */
const damaged = fc
  .array(
    fc.record({
      at: fc.nat({ max: FULL.length }),
      length: fc.oneof(fc.constant(0), fc.nat({ max: 12 }), fc.nat({ max: 400 })),
      put: fc.oneof(fc.constantFrom(...WORDS), fc.string({ maxLength: 6, unit: 'binary' })),
      twice: fc.boolean(),
    }),
    { minLength: 1, maxLength: 4 },
  )
  .map((damages) =>
    damages.reduce((text, { at, length, put, twice }) => {
      const stretch = text.slice(at, at + length);
      return text.slice(0, at) + (twice ? stretch + stretch : put) + text.slice(at + length);
    }, FULL),
  );

const leaf = fc.oneof(
  fc.constantFrom<unknown>(null, true, false, 0, -1, 0.5, 1e15, ...wordsOf('a ** 1m 90d docs env:A 🙂'), ''),
  fc.constantFrom<unknown>(...wordsOf('https://a keep expire text/plain 127.0.0.1:1 2026-12-31T00:00Z ./d')),
  fc.string({ maxLength: 8, unit: 'binary' }),
  fc.double(),
);

/** Sound JSON with the right names in the wrong places. */
const misplaced = jsonValues(leaf, [...NAMES, '', 'x', 'a b'], { depth: 4, items: 4, fields: 6 }).map(
  (value) => JSON.stringify(value),
);

/** The full configuration with one field of it given another value. */
const changed = fc
  .tuple(fc.constantFrom(...NAMES), leaf, fc.constantFrom(...NAMES), leaf)
  .map(([first, one, second, other]) =>
    [[first, one] as const, [second, other] as const].reduce(
      (text, [name, value]) =>
        text.replace(
          new RegExp(`"${name.replace('$', '\\$')}": ("[^"]*"|[\\d.e]+|true|false)`, 'u'),
          () => `"${name}": ${JSON.stringify(value)}`,
        ),
      FULL,
    ),
  );

const PATHS = [...wordsOf('a b/c.pdf r/x.md ..a/.b - r/🙂'), 'é\u0301/\n'] as RelativePath[];

fuzz({
  name: 'config-text',
  inputs: fc.oneof(damaged, misplaced, changed, pieces(WORDS, 60)),
  check: (text) => {
    expectSound(parseConfig(text, '/srv/bot/botsync.config.json'));
  },
});

const directory = mkdtempSync(join(tmpdir(), 'botsync-fuzz-'));
afterAll(() => {
  rmSync(directory, { recursive: true });
});

fuzz({
  name: 'config-file',
  inputs: fc
    .oneof(
      fc.uint8Array({ maxLength: 40 }),
      fc
        .tuple(damaged, fc.uint8Array({ maxLength: 3 }), fc.nat({ max: FULL.length }))
        .map(([text, bytes, at]) => {
          const whole = Buffer.from(text);
          return Buffer.concat([whole.subarray(0, at), bytes, whole.subarray(at)]);
        }),
    )
    .map((bytes) => Buffer.from(bytes).toString('base64')),
  check: (base64) => {
    const file = join(directory, 'botsync.config.json');
    writeFileSync(file, Buffer.from(base64, 'base64'));
    expectSound(loadConfig(file));
  },
});

/** A result is either problems that people can be shown, or a configuration that everything after it can use. */
function expectSound(result: ConfigResult): void {
  if (result.kind === 'invalid') {
    expect(result.problems.length).toBeGreaterThan(0);
    for (const problem of result.problems) expectPresentable(renderProblem(problem));
    return;
  }
  for (const warning of result.warnings) expectPresentable(renderProblem(warning));
  const { config } = result;
  for (const source of config.sources) {
    const rules = compileRules(config.rules, source.name, suggestContentType);
    const filter = createFilter(source.ignore, () => false);
    for (const path of PATHS) {
      filter.whyIgnored(path);
      const { settings } = rules.resolve(path);
      const prepared = prepareUpsert(fileKey(source.keyPrefix, path), 1, settings, 1_780_000_000_000);
      if (prepared.kind === 'ready') JSON.stringify(prepared.body);
    }
  }
}

test('the configuration that is damaged is valid itself', () => {
  expect(parseConfig(FULL, '/srv/bot/botsync.config.json').kind).toBe('ok');
});
