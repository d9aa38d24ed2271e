import type { Config } from '../../config/config.ts';
import type { OptionalFailure } from '../../domain/failure.ts';
import { EXIT } from '../../domain/exit-code.ts';
import type { FoundPassage, Passage } from '../../platform/lookups.ts';
import { findSources } from '../../sync/sources/source.ts';
import { fileKey } from '../../domain/key.ts';
import type { GlobalOptions } from '../global-options.ts';
import { load, platformName } from '../../run/run-base.ts';
import { locateFile, readTags } from '../arguments.ts';
import { platformError, type SyncError } from '../../run/sync-error.ts';
import { print, shown, printJson } from '../render/output.ts';
import { withSession } from '../session.ts';
import { UsageError } from '../usage-error.ts';

export interface SearchOptions extends GlobalOptions {
  readonly query: string;
  readonly tag: readonly string[] | undefined;
  readonly limit: number | undefined;
  /** The source whose bot is asked; required with several bots. */
  readonly source: string | undefined;
}

/** `botsync search`. Returns the exit code; throws `UsageError`. */
export function search({ query, tag, limit, source, ...options }: SearchOptions): Promise<number> {
  const { config } = load(options);
  const tags = readTags(tag ?? []);
  if (query.trim() === '') throw new UsageError('the question is empty; write what a user would ask');
  if (limit !== undefined && !(Number.isInteger(limit) && limit > 0))
    throw new UsageError(`--limit ${limit}: write a whole number above 0`);
  const botId = botOf(source, config);
  return withSession(options, 'search', async ({ lookups, signal }) => {
    const found = await lookups(botId).search({ query, tags, limit: limit ?? null }, signal);
    if (found.kind === 'failed') throw lookupError('the bot could not be asked', found.failure);
    const passages = found.value;
    if (options.json) for (const passage of passages) printJson(passage);
    else if (passages.length === 0) print('Nothing found.');
    else print(passages.flatMap(describeFound).join('\n'));
    return EXIT.ok;
  });
}

export interface PassagesOptions extends GlobalOptions {
  readonly path: string;
}

/**
 * `botsync passages`: the passages that the platform extracted from a local file. Returns the exit code; throws
 * `UsageError`.
 */
export function passages({ path: written, ...options }: PassagesOptions): Promise<number> {
  const { config } = load(options);
  const { found, path } = locateFile(written, findSources(config, platformName(options, config)));
  const { botId, keyPrefix } = found.config;
  const key = fileKey(keyPrefix, path);
  return withSession(options, 'passages', async ({ lookups, signal }) => {
    const client = lookups(botId);
    const id = await client.idOf(key, signal);
    if (id.kind === 'failed')
      throw id.failure.kind === 'not-found'
        ? new UsageError(`the bot has no file ${shown(key)}: "botsync explain" says why`, EXIT.incomplete)
        : lookupError(`${key} could not be looked up`, id.failure);
    const made = await client.passagesOf(id.value, signal);
    if (made.kind === 'failed') throw lookupError(`the passages of ${key} could not be listed`, made.failure);
    if (options.json) for (const passage of made.value) printJson(passage);
    else if (made.value.length === 0)
      print(`${shown(key)} has no passages: it is not indexed, not indexed yet, or contains no text.`);
    else print(made.value.flatMap(describePassage).join('\n'));
    return EXIT.ok;
  });
}

function lookupError(what: string, failure: OptionalFailure): SyncError {
  return platformError(what, failure, 'reads');
}

/** Returns the bot of the named source, or the only bot. */
function botOf(source: string | undefined, { sources }: Config): string {
  const names = sources.map(({ name }) => `  ${name}`).join('\n');
  if (source !== undefined) {
    const named = sources.find(({ name }) => name === source);
    if (named === undefined)
      throw new UsageError(`--source ${source}: source not found; the sources are:\n${names}`);
    return named.botId;
  }
  const [first, ...others] = new Set(sources.map(({ botId }) => botId));
  if (first === undefined || others.length > 0)
    throw new UsageError(`the sources belong to several bots; choose one with --source NAME:\n${names}`);
  return first;
}

function describeFound({ score, key, page, text }: FoundPassage): string[] {
  const place = page === null ? '' : `, page ${page}`;
  return [`${shown(key)}${place} (score ${score.toFixed(2)})`, ...indented(text), ''];
}

function describePassage({ type, page, text }: Passage, at: number): string[] {
  const about = [type, page === null ? null : `page ${page}`].filter((one) => one !== null).join(', ');
  return [`${at + 1}${about === '' ? '' : ` (${shown(about)})`}`, ...indented(text), ''];
}

function indented(text: string): string[] {
  return text
    .trim()
    .split('\n')
    .map((line) => `  ${shown(line)}`);
}
