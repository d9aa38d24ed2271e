import { chmodSync, existsSync, statSync, writeFileSync, readFileSync } from 'node:fs';
import { basename, dirname, join, resolve, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { otherFormat, CONFIG_NAMES, SCHEMA_COPY } from '../../config/find-config.ts';
import { parseConfig, type LoadedConfig } from '../../config/load-config.ts';
import { resolveSecret } from '../../config/secrets.ts';
import { quoteForShell, renderProblem } from '../../config/problem.ts';
import { EXIT } from '../../domain/exit-code.ts';
import { describe } from '../render/resource.ts';
import type { GlobalOptions } from '../global-options.ts';
import {
  gatherAnswers,
  type Access,
  type AnswerOptions,
  type Answers,
  type BotPurpose,
} from '../init-answers.ts';
import { openPrompter, type Choice } from '../prompter.ts';
import { invocation, print, printError, shown, printJson } from '../render/output.ts';
import { runSession } from '../session.ts';
import { SyncError } from '../../run/sync-error.ts';
import { UsageError } from '../usage-error.ts';

export interface InitOptions extends GlobalOptions, AnswerOptions {
  readonly yes: boolean;
  readonly force: boolean;
}

/** The bot of a new emulator. */
const EMULATOR_BOT = 'demo-bot';

/** The package may have been installed without its documentation. */
const CONFIGURATION_PAGE = fileURLToPath(new URL('../../docs/CONFIGURATION.md', import.meta.url));

/** Others must not be able to change what is sent where. */
const MODE = 0o644;

/** `botsync init`: writes a configuration. Returns the exit code; throws `UsageError`. */
export async function init(options: InitOptions): Promise<number> {
  const file = resolve(options.config);
  refuseToOverwrite(file, options);
  const warnings: string[] = [];
  const answers = await gatherAnswers({
    options,
    configFile: file,
    prompter: options.yes ? null : await openPrompter(),
    emulatorBot: options.emulator ? EMULATOR_BOT : null,
    findBots: (access, purpose) => findBots(access, purpose, file),
    warn: (message) => warnings.push(message),
  });
  const schema = planSchema(file);
  const text = writeConfigText(answers, schema.address);
  const loaded = check(text, options.config);
  for (const warning of [...warnings, ...loaded.warnings.map(renderProblem)])
    printError(`warning: ${warning}`);
  write(file, text, options);
  writeSchemaCopy(schema);
  if (options.json) printJson({ file });
  else print(whatNext(options, loaded));
  return EXIT.ok;
}

function refuseToOverwrite(file: string, { config, force }: InitOptions): void {
  const format = otherFormat(file);
  if (format !== null)
    throw new UsageError(
      `${config}: botsync does not read ${format}; name a file that ends in .json or .jsonc`,
    );
  if (statSync(file, { throwIfNoEntry: false })?.isDirectory() === true)
    throw new UsageError(
      `${config} is a directory; name the file to write: --config ${join(config, CONFIG_NAMES[0])}`,
    );
  const twin = CONFIG_NAMES.map((name) => join(dirname(file), name)).find(
    (one) => one !== file && CONFIG_NAMES.includes(basename(file) as never) && existsSync(one),
  );
  if (twin !== undefined)
    throw new UsageError(
      `${basename(twin)} already exists, and with both files botsync would read neither; name it with --config to overwrite it, or move it away`,
    );
  if (!force && existsSync(file)) throw new UsageError(`${config} already exists; overwrite it with --force`);
  if (!existsSync(dirname(file)))
    throw new UsageError(
      `${dirname(file)} does not exist; create it first, or name another place with --config`,
    );
}

/**
 * Returns the bots of the workspace; `null` if the platform cannot be asked. A message says why, except for a check
 * without the id of the workspace or the token, which may be set later.
 */
async function findBots(
  access: Access,
  purpose: BotPurpose,
  file: string,
): Promise<readonly Choice<string>[] | null> {
  const isCheck = purpose === 'check';
  if (access.workspaceId === null) {
    if (!isCheck) printError('Bots can be listed only with a workspace id.');
    return null;
  }
  const { baseUrl, chatUrl, workspaceId, token } = access;
  const platform = { baseUrl, chatUrl, workspaceId, token, botId: 'not-known-yet' };
  const draft = check(JSON.stringify({ platform, sources: [{ directory: '.', name: 'draft' }] }), file);
  if (isCheck && !hasToken(draft)) return null;
  const notices = { warn: printError, retrying: () => undefined };
  const found: Choice<string>[] = [];
  try {
    await runSession(draft, false, 'init', notices, async ({ administration, signal }) => {
      const outcome = await administration().listBots(signal);
      if (outcome.kind === 'failed') throw new UsageError(outcome.failure.message);
      for (const { id, name } of outcome.value) found.push({ name: describe(name) || id, value: id });
      return EXIT.ok;
    });
    if (found.length === 0 && !isCheck) printError('The workspace has no bots.');
    return found;
  } catch (error) {
    if (!(error instanceof SyncError)) throw error;
    // The file does not exist yet, so its name would confuse.
    const effect = isCheck ? ', so --bot was not checked' : '';
    printError(`The bots cannot be listed${effect}: ${shown(error.message.replace(`${file}: `, ''))}`);
    return null;
  }
}

function hasToken({ config: { platform } }: LoadedConfig): boolean {
  return platform.token !== null && resolveSecret(platform.token, process.env).kind === 'ok';
}

/**
 * Checks the text of the new configuration. Each answer was checked, so only a conflict between answers can make it
 * invalid.
 */
function check(text: string, file: string): LoadedConfig {
  const loaded = parseConfig(text, file);
  if (loaded.kind === 'invalid') throw new UsageError(loaded.problems.map(renderProblem).join('\n'));
  return loaded;
}

function write(file: string, text: string, { config, force }: InitOptions): void {
  try {
    writeFileSync(file, text, { mode: MODE, flag: force ? 'w' : 'wx' });
    if (force) chmodSync(file, MODE);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    throw new UsageError(`${config} cannot be written: ${code}; name another place with --config`);
  }
}

function whatNext(options: InitOptions, { config }: LoadedConfig): string {
  const { token } = config.platform;
  const where = [
    ...(options.emulator ? [' --emulator'] : []),
    ...(options.config === 'botsync.config.json' ? [] : [` -c ${quoteForShell(options.config)}`]),
  ].join('');
  const botsync = invocation();
  const isTokenMissing = !options.emulator && token?.kind === 'env' && (process.env[token.name] ?? '') === '';
  const directory = config.sources[0]?.directory ?? '';
  return [
    `${options.config} was written. Next:`,
    ...(existsSync(directory) ? [] : [`  mkdir -p ${quoteForShell(directory)}`]),
    ...(isTokenMissing ? [`  export ${token.name}=…`] : []),
    `  ${botsync} doctor${where}`,
    `  ${botsync} sync --dry-run${where}`,
    ...(existsSync(CONFIGURATION_PAGE) ? [`Every field: ${CONFIGURATION_PAGE}`] : []),
  ].join('\n');
}

/** Returns the text of a new configuration, with comments for newcomers. */
export function writeConfigText(answers: Answers, schemaAddress: string | null): string {
  const { baseUrl, chatUrl, workspaceId, botId, botName, token, directory, keyPrefix, index, removals } =
    answers;
  const platform = [
    ...(baseUrl === DEFAULTS.baseUrl ? [] : [`"baseUrl": ${quoted(baseUrl)},`]),
    ...(chatUrl === DEFAULTS.chatUrl ? [] : [`"chatUrl": ${quoted(chatUrl)},`]),
    ...(workspaceId === null ? [] : [`"workspaceId": ${quoted(workspaceId)},`]),
    ...(botName === null || botName === botId ? [] : [`// ${shown(botName)}`]),
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
