import { basename, dirname, isAbsolute, relative, resolve } from 'node:path';
import type { RemovalMode } from '../domain/record.ts';
import { meaning, problem, type Reading } from '../config/problem.ts';
import {
  readBotId,
  readId,
  readKeyPrefix,
  readPattern,
  readSecretReference,
  readUrl,
  readPath,
} from '../config/values.ts';
import { isThisMachine } from '../config/cross-checks.ts';
import { demand, UsageError } from './usage-error.ts';
import type { Choice, Prompter } from './prompter.ts';
import { statSync } from 'node:fs';
import { DISK } from '../files/disk.ts';
import { describeNearest } from '../words/halt.ts';
import { findNearest } from '../sync/sources/source.ts';
import { shown } from './render/output.ts';

/** The contents of a new configuration; texts are as in the file. */
export interface Answers {
  readonly baseUrl: string;
  readonly chatUrl: string;
  readonly token: string;
  readonly workspaceId: string | null;
  readonly botId: string;
  /** The name on the platform, if it was asked. */
  readonly botName: string | null;
  /** Relative to the configuration, or absolute. */
  readonly directory: string;
  readonly keyPrefix: string;
  /** Patterns of files to index; empty for none. */
  readonly index: readonly string[];
  readonly removals: RemovalMode;
}

/** Options that replace answers. */
export interface AnswerOptions {
  readonly baseUrl: string | undefined;
  readonly chatUrl: string | undefined;
  readonly token: string | undefined;
  readonly workspace: string | undefined;
  readonly bot: string | undefined;
  readonly directory: string | undefined;
  readonly keyPrefix: string | undefined;
  readonly index: readonly string[] | undefined;
  readonly noIndex: boolean;
  readonly removals: RemovalMode | undefined;
}

/** The answers that are needed before the platform can be asked for its bots. */
export type Access = Pick<Answers, 'baseUrl' | 'chatUrl' | 'token' | 'workspaceId'>;

export interface Interview extends DirectoryPorts {
  readonly options: AnswerOptions;
  /** Absolute. */
  readonly configFile: string;
  /** The bot of the emulator, which needs no access to the platform; `null` without it. */
  readonly emulatorBot: string | null;
  /** Returns the bots of the workspace by name; `null` if unknown, with a message if they are to choose from. */
  readonly findBots: (access: Access, purpose: BotPurpose) => Promise<readonly Choice<string>[] | null>;
}

/** `check`: of an id that was given, as far as the platform can be asked. */
export type BotPurpose = 'choose' | 'check';

/** The default patterns to index: formats that the platform is known to index. */
const DOCUMENTS = ['*.md', '*.txt', '*.html', '*.htm', '*.pdf', '*.doc', '*.docx'];

/**
 * Collects the contents of a configuration from options and questions. Throws `UsageError` for missing or invalid
 * ones.
 */
export async function gatherAnswers(interview: Interview): Promise<Answers> {
  const { options, prompter, emulatorBot } = interview;
  demandOptions(interview);
  const onPlatform = emulatorBot === null ? prompter : null;
  const baseUrl = await settle(onPlatform, '--base-url', options.baseUrl, {
    question: 'Address of the platform',
    fallback: 'https://api.botpress.cloud',
    read: readUrl,
  });
  const access: Access = {
    baseUrl,
    chatUrl: await settle(onPlatform, '--chat-url', options.chatUrl, {
      question: 'Address of the chat',
      fallback: chatBeside(baseUrl),
      read: readUrl,
    }),
    token: await settle(onPlatform, '--token', options.token, {
      question: 'Where the access token is stored (env:NAME, file:PATH or credential:NAME)',
      fallback: 'env:BOTSYNC_TOKEN',
      read: readTokenPlace,
    }),
    workspaceId: orNull(
      await settle(onPlatform, '--workspace', options.workspace, {
        question: 'Id of the workspace (empty: none)',
        fallback: '',
        read: (text) => (text === '' ? meaning('') : readId(text)),
      }),
    ),
  };
  const bot = await settleBot(interview, access);
  const directory = await settleDirectory(options.directory, interview);
  const fromConfig = relativeTo(interview.configFile, directory);
  const keyPrefix = await settle(prompter, '--key-prefix', options.keyPrefix, {
    question: "Prefix of the files' keys (Backspace, Enter: none)",
    fallback: `${basename(resolve(directory))}/`.replace(/^\/$/u, ''),
    read: readKeyPrefix,
  });
  const index = await settleIndex(interview);
  return {
    ...access,
    ...bot,
    directory: fromConfig,
    keyPrefix,
    index,
    removals: await settleRemovals(interview),
  };
}

interface Field {
  readonly question: string;
  readonly fallback: string;
  readonly read: (text: string) => Reading<unknown>;
}

async function settle(
  prompter: Prompter | null,
  option: string,
  given: string | undefined,
  { question, fallback, read }: Field,
): Promise<string> {
  if (given !== undefined) {
    demand(option, read(given));
    return given;
  }
  return prompter === null ? fallback : await prompter.text(question, fallback, read);
}

async function settleBot(
  { options, prompter, emulatorBot, findBots, warn }: Interview,
  access: Access,
): Promise<Pick<Answers, 'botId' | 'botName'>> {
  if (options.bot === undefined && emulatorBot !== null) return { botId: emulatorBot, botName: null };
  const field = { question: 'Id of the bot', fallback: '', read: readBotId };
  if (options.bot !== undefined || prompter === null) {
    const botId = await settle(null, '--bot', options.bot, field);
    const known = emulatorBot === null ? await findBots(access, 'check') : null;
    if (known === null) return { botId, botName: null };
    const botName = known.find(({ value }) => value === botId)?.name ?? null;
    if (botName === null) warn(describeUnknownBot(botId, access.workspaceId, known));
    return { botId, botName };
  }
  const found = await findBots(access, 'choose');
  if (found === null || found.length === 0)
    return { botId: await prompter.text(field.question, field.fallback, field.read), botName: null };
  const other = { name: 'another one', value: null };
  const choices = found.map(({ name, value }) => ({ name: `${name} (${value})`, value }));
  const botId = await prompter.choose<string | null>('Bot for the files', [...choices, other]);
  if (botId === null) return { botId: await prompter.text(field.question, '', field.read), botName: null };
  return { botId, botName: found.find(({ value }) => value === botId)?.name ?? null };
}

const MOST_NAMED_BOTS = 5;

function describeUnknownBot(
  botId: string,
  workspaceId: string | null,
  bots: readonly Choice<string>[],
): string {
  const named = bots.slice(0, MOST_NAMED_BOTS).map(({ name, value }) => `${value} (${name})`);
  const others = bots.length > named.length ? ', …' : '';
  const has = bots.length === 0 ? 'has no bots' : `has ${named.join(', ')}${others}`;
  return shown(
    `--bot ${botId} is not in the workspace ${workspaceId ?? ''}, which ${has}; correct "botId" or "workspaceId" in the file`,
  );
}

async function settleIndex({ options, prompter }: Interview): Promise<readonly string[]> {
  if (options.noIndex) {
    if (options.index !== undefined) throw new UsageError('write either --index or --no-index');
    return [];
  }
  if (options.index !== undefined) {
    for (const pattern of options.index) demand('--index', readPattern(pattern));
    return options.index;
  }
  if (prompter === null) return DOCUMENTS;
  return await prompter.choose('What the bot may search', [
    { name: `documents (${DOCUMENTS.join(' ')})`, value: DOCUMENTS },
    { name: 'every file', value: ['**'] },
    { name: 'nothing; the files are only stored', value: [] },
  ]);
}

async function settleRemovals({ options, prompter }: Interview): Promise<RemovalMode> {
  if (options.removals !== undefined) return options.removals;
  if (prompter === null) return 'keep';
  return await prompter.choose('What happens on the platform when a file is deleted here', [
    { name: 'keep: it stays there', value: 'keep' },
    {
      name: 'expire: it is emptied and expires within minutes; every platform supports that',
      value: 'expire',
    },
    { name: 'delete: it is deleted, if it is still the one that was sent', value: 'delete' },
  ]);
}

/** Returns the default address of the chat: a local platform serves its own. */
function chatBeside(baseUrl: string): string {
  return isThisMachine(new URL(baseUrl).hostname)
    ? `${baseUrl.replace(/\/+$/u, '')}/chat`
    : 'https://chat.botpress.cloud';
}

/** Without questions, answers without a default must be options. */
function demandOptions({ options, prompter, emulatorBot }: Interview): void {
  if (prompter !== null) return;
  const missing = [
    ...(options.bot === undefined && emulatorBot === null ? ['--bot ID'] : []),
    ...(options.directory === undefined ? ['--directory DIR'] : []),
  ];
  if (missing.length === 0) return;
  throw new UsageError(
    `not a terminal, so nothing can be asked; add ${missing.join(' and ')} (see botsync init --help)`,
  );
}

/** Makes a directory that is relative to the working directory relative to the configuration. */
function relativeTo(configFile: string, directory: string): string {
  if (isAbsolute(directory)) return directory;
  const path = relative(dirname(configFile), resolve(directory));
  return path.startsWith('.') ? path : `./${path}`;
}

function orNull(text: string): string | null {
  return text === '' ? null : text;
}

/** Typed text is visible, so it cannot be the secret itself. */
function readTokenPlace(text: string): Reading<unknown> {
  const reading = readSecretReference(text);
  return reading.kind === 'ok' || text.includes(':')
    ? reading
    : problem('write where the token is stored, such as env:BOTSYNC_TOKEN; never the token itself');
}

export interface DirectoryPorts {
  /** `null` without a terminal. */
  readonly prompter: Prompter | null;
  readonly warn: (message: string) => unknown;
}

/**
 * Determines the directory to sync, by option or question. A missing one causes a warning or must be confirmed.
 * Throws `UsageError` for a file.
 */
export async function settleDirectory(
  given: string | undefined,
  { prompter, warn }: DirectoryPorts,
): Promise<string> {
  if (given !== undefined || prompter === null) {
    const directory = given ?? '';
    demand('--directory', readDirectory(directory));
    const missing = describeMissing(directory);
    if (missing !== null) warn(`${missing}; create it before the first pass`);
    return directory;
  }
  for (;;) {
    const directory = await prompter.text('Directory to sync', './docs', readDirectory);
    const missing = describeMissing(directory);
    if (missing === null) return directory;
    // Enter takes the first choice: accepting all defaults must not repeat the question.
    const isMeant = await prompter.choose(missing, [
      { name: 'use it; create it before the first pass', value: true },
      { name: 'name another directory', value: false },
    ]);
    if (isMeant) return directory;
  }
}

function readDirectory(text: string): Reading<unknown> {
  const reading = readPath(text);
  if (reading.kind === 'problem') return reading;
  return kindOf(text) === 'other'
    ? problem(`${shown(text)} is not a directory; name the directory that contains the files`)
    : meaning(text);
}

/** Returns a message with the nearest existing directory; `null` if the directory exists. */
function describeMissing(directory: string): string | null {
  if (kindOf(directory) !== 'missing') return null;
  return shown(`${directory} does not exist (${describeNearest(findNearest(resolve(directory), DISK))})`);
}

function kindOf(path: string): 'directory' | 'other' | 'missing' {
  try {
    return statSync(path).isDirectory() ? 'directory' : 'other';
  } catch {
    return 'missing';
  }
}
