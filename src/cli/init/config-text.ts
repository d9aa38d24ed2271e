import { join, dirname, relative } from 'node:path';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'url';
import { SCHEMA_COPY } from '../../config/find-config.ts';
import { shown } from '../render/output.ts';
import type { Answers } from './answers.ts';

/** Returns the text of a new configuration, with comments for newcomers. */
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

/** The `$schema` of a new configuration, and the copy next to it that it needs, if any. */
export interface SchemaPlan {
  /** `null` without a schema. */
  readonly address: string | null;
  readonly copy: { readonly file: string; readonly text: string } | null;
}

/**
 * Chooses a path to the schema that is valid wherever the configuration is checked out: botsync's own file if it is
 * installed below the configuration, as in `node_modules/`, else a copy next to it.
 *
 * @param file - the configuration, absolute.
 */
export function planSchema(file: string): SchemaPlan {
  const schema = fileURLToPath(new URL('../../config.schema.json', import.meta.url));
  const beside = join(dirname(file), SCHEMA_COPY);
  const path = relative(dirname(file), schema);
  if (!existsSync(schema)) return { address: null, copy: null };
  if (!path.startsWith('..')) return { address: `./${path}`, copy: null };
  const isOthers = existsSync(beside) && !readFileSync(beside, 'utf8').includes('"botsync configuration"');
  if (isOthers) return { address: null, copy: null };
  return { address: `./${SCHEMA_COPY}`, copy: { file: beside, text: readFileSync(schema, 'utf8') } };
}

/** Throws the file system's errors. */
export function writeSchemaCopy({ copy }: SchemaPlan): void {
  if (copy !== null) writeFileSync(copy.file, copy.text, { mode: 0o644 });
}
