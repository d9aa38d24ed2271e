import { expect, test } from 'vitest';
import { parseConfig } from '../../src/config/load-config.ts';
import { renderProblem } from '../../src/config/problem.ts';
import { linesOf } from './fixture.ts';

test('all problems are told at once, in the order of the file, with line and column', () => {
  const text = `// a comment
{
  "platform": { "tokn": 1 },
  "sources": [
    { "directory": "./a", "keyPrefix": 5 },
    {\r
      "directory": "~/b", "name": "a", "name": "b"
    },
  ],
  "watch": { "settle": "1m", "zzz": 1 }
}`;
  expect(linesOf(text).problems).toEqual([
    'c:3:15: platform.botId: is missing, and sources[0], sources[1] without a botId of its own has no bot; write the id of the bot ("botsync init" offers the bots of a workspace)',
    'c:3:17: platform.tokn: unknown field; did you mean "token"?',
    'c:5:40: sources[0].keyPrefix: expected a string, found 5; write it as a string: "5"',
    'c:7:20: sources[1].directory: "~" is not expanded here; write the whole path, or one relative to this file',
    expect.stringMatching(/^c:7:35: sources\[1\]\.name: sources\[0\] is named "a" as well/u),
    'c:7:40: sources[1].name: "name" occurs twice here; keep one of them',
    expect.stringMatching(/^c:10:12: watch\.maxDelay: a file would be sent/u),
    expect.stringMatching(/^c:10:30: watch\.zzz: unknown field; known fields: settle, /u),
  ]);
});

test.each([
  [
    '',
    'c: is empty; the shortest configuration is { "platform": { "botId": "…" }, "sources": [{ "directory": "./docs" }] }',
  ],
  ['// nothing\n', /^c: is empty; /u],
  ['{', 'c:1:2: a closing brace "}" is missing'],
  ['{\n  "a": 1\n  "b": 2\n}', 'c:3:3: a comma is missing before this'],
  ['{\n  "a" 1\n}', 'c:2:7: a colon is expected here, between a field name and its value'],
  ["{ 'a': 1 }", 'c:1:3: this is not JSON; strings and names need double quotes'],
  ['{ "a": "x\n }', 'c:1:8: a string is not closed; end it with a double quote'],
  ['{ "a": "\\q" }', /^c:1:8: unknown escape sequence/u],
  ['{ "a": }', /^c:1:8: a value is expected here/u],
  ['{ "limits": { "fileBytes": 5MB } }', /^c:1:29: a number has no unit; bytes are written in digits only/u],
  ['{ "watch": { "rescan": 15m } }', /^c:1:26: a number has no unit; .* durations as strings \("15m"\)/u],
  ['{} {}', 'c:1:4: the configuration ended before this; remove what follows'],
  ['{ /* x', /^c:1:3: a comment is not closed/u],
  ['[]', 'c:1:1: expected an object, found a list'],
  ['"x"', 'c:1:1: expected an object, found a string'],
  ['['.repeat(100_000), 'c:1:65: this is nested too deeply'],
  ['{ "__proto__": {} }', /^c:1:3: __proto__: this name cannot be used/u],
  ['{ "sources": 1e999 }', /^c:1:14: sources: this number is too large/u],
])('syntax: %j', (text, line) => {
  const [first] = linesOf(text).problems.filter(
    (one) => !one.includes('is missing, and') && !one.includes(': is missing;'),
  );
  expect(first).toEqual(typeof line === 'string' ? line : expect.stringMatching(line));
});

test.each([
  ['bot.yaml', /^bot\.yaml:1:1: is not JSON, and botsync does not read YAML; write/u],
  ['bot.YML', /botsync does not read YAML/u],
  ['bot.toml', /botsync does not read TOML/u],
  ['bot.json', /^bot\.json:1:1: this is not JSON/u],
])('what is not JSON in %s', (name, message) => {
  const result = parseConfig('platform: {}', name);
  expect(result.kind === 'invalid' && result.problems.map(renderProblem).join()).toMatch(message);
});
