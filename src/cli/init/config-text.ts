import { shown } from '../render/output.ts';
import type { Answers } from './answers.ts';

/** The text of a new configuration, with the comments that somebody needs who opens it for the first time. */
export function writeConfigText(answers: Answers, schemaAddress: string | null): string {
  const { baseUrl, chatUrl, workspaceId, botId, botName, token, directory, keyPrefix, index, removals } =
    answers;
  const platform = [
    ...(baseUrl === DEFAULTS.baseUrl ? [] : [`"baseUrl": ${quoted(baseUrl)},`]),
    ...(chatUrl === DEFAULTS.chatUrl ? [] : [`"chatUrl": ${quoted(chatUrl)},`]),
    ...(workspaceId === null ? [] : [`"workspaceId": ${quoted(workspaceId)},`]),
    ...(botName === null ? [] : [`// ${shown(botName)}`]),
    `"botId": ${quoted(botId)},`,
    '// Where the token is stored, never the token itself.',
    `"token": ${quoted(token)}`,
  ];
  const prefix = keyPrefix === '' ? '' : `, "keyPrefix": ${quoted(keyPrefix)}`;
  const example = `${keyPrefix}guide.md`;
  const indexRule =
    index.length === 0
      ? ['// To let the bot search files: { "match": ["*.md", "*.pdf"], "index": true },']
      : ['// What the bot may search.', `{ "match": ${listed(index)}, "index": true },`];
  return `${[
    '// Configuration of botsync. All fields: CONFIGURATION.md in its documentation; editors show them by the schema.',
    '{',
    ...(schemaAddress === null ? [] : [`  "$schema": ${quoted(schemaAddress)},`]),
    '  "platform": {',
    ...platform.map((line) => `    ${line}`),
    '  },',
    `  // Paths are relative to this file. ${quoted(shown(`${directory}/guide.md`))} becomes the file ${quoted(shown(example))} of the bot.`,
    `  "sources": [{ "directory": ${quoted(directory)}${prefix} }],`,
    '  // Every rule that matches a file applies; later ones win, tags merge.',
    '  "rules": [',
    '    { "match": "**", "tags": { "managed-by": "botsync" } },',
    ...indexRule.map((line) => `    ${line}`),
    '    // The platform deletes these after 30 days; botsync renews them before that:',
    '    // { "match": "reports/**", "expiresIn": "30d" },',
    '  ],',
    '  // A file that is deleted here: "keep" leaves it on the platform, "expire" empties it so that it expires within minutes, "delete" deletes it.',
    `  "removals": { "mode": ${quoted(removals)} },`,
    '}',
  ].join('\n')}\n`;
}

const DEFAULTS = { baseUrl: 'https://api.botpress.cloud', chatUrl: 'https://chat.botpress.cloud' };

function quoted(text: string): string {
  return JSON.stringify(text);
}

function listed(texts: readonly string[]): string {
  return `[${texts.map(quoted).join(', ')}]`;
}
