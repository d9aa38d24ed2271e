import { join, resolve } from 'node:path';
import { resolveSecret } from '../../config/secrets.ts';
import { quoteForShell } from '../../config/problem.ts';
import { readDuration, formatDuration } from '../../config/duration.ts';
import { readSecretReference, readTimer } from '../../config/values.ts';
import { EXIT } from '../../domain/exit-code.ts';
import { startEmulator, type Emulator } from '../../emulator/emulator.ts';
import { UnusableData } from '../../emulator/database.ts';
import { listenForStop } from '../signals.ts';
import type { GlobalOptions } from '../global-options.ts';
import { holdLock } from '../../run/state-file.ts';
import { invocation, print, printError } from '../render/output.ts';
import { readGlob } from '../arguments.ts';
import { demand, UsageError } from '../usage-error.ts';
import type { Conditions } from '../../emulator/conditions.ts';

export interface EmulatorCommandOptions extends GlobalOptions {
  readonly port: number;
  readonly data: string;
  readonly bot: string[] | undefined;
  readonly token: string | undefined;
  readonly fileQuota: number | undefined;
  readonly vectorQuota: number | undefined;
  readonly operations: 'all' | 'specified';
  readonly indexingDelay: string | undefined;
  readonly failIndexing: string[] | undefined;
  readonly slow: string | undefined;
  readonly fail: number | undefined;
  readonly failFor: string | undefined;
}

/** `botsync emulator`: serves until a signal. Returns the exit code; throws `UsageError`. */
export async function emulator(options: EmulatorCommandOptions): Promise<number> {
  const dataDir = resolve(options.data);
  const rehearsal = readRehearsal(options);
  const lock = holdLock(join(dataDir, 'emulator'), 'the emulator', 'emulator');
  try {
    const running = await start(options, dataDir);
    const ended = new Promise<void>((resolveEnded) => {
      listenForStop({
        stopping: () => {
          resolveEnded();
        },
      });
    });
    const endRehearsal = await rehearse(rehearsal, running.conditions, () => {
      printError('The outage is over: requests are answered as usual.');
    });
    print(options.json ? JSON.stringify(describe(running)) : introduce(running, options, rehearsal));
    await ended;
    endRehearsal();
    await running.close();
    return EXIT.ok;
  } finally {
    lock.release();
  }
}

async function start(options: EmulatorCommandOptions, dataDir: string): Promise<Emulator> {
  for (const glob of options.failIndexing ?? []) readGlob('--fail-indexing', glob);
  const indexingMs =
    options.indexingDelay === undefined ? 0 : demand('--indexing-delay', readDuration(options.indexingDelay));
  try {
    return await startEmulator({
      dataDir,
      port: options.port,
      bots: (options.bot ?? []).map(readBot),
      token: options.token === undefined ? undefined : readToken(options.token),
      quotas: {
        ...(options.fileQuota !== undefined && { fileStorageBytes: options.fileQuota }),
        ...(options.vectorQuota !== undefined && { vectorStorageBytes: options.vectorQuota }),
      },
      operations: options.operations,
      // Half of the delay for each status, so that both are seen.
      indexingDelayMs: indexingMs / 2,
      indexingProgressMs: indexingMs / 2,
      failIndexing: options.failIndexing,
    });
  } catch (error) {
    if (error instanceof UnusableData) throw new UsageError(error.message);
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE') {
      throw new UsageError(
        `port ${options.port} is in use; name another with --port, or 0 for any`,
        EXIT.incomplete,
      );
    }
    if (code === 'EACCES')
      throw new UsageError(`${dataDir} or port ${options.port} is not allowed to this user`);
    throw error;
  }
}

function readBot(text: string): { id: string; name: string } {
  const [id = '', ...rest] = text.split('=');
  if (id === '') throw new UsageError(`--bot ${text}: write ID or ID=NAME`);
  return { id, name: rest.length === 0 ? id : rest.join('=') };
}

/** Reads a reference to the token: in the arguments, every user of the machine could see the token itself. */
function readToken(text: string): string {
  const reference = demand('--token', readSecretReference(text));
  const secret = resolveSecret(
    reference.kind === 'file' ? { ...reference, path: resolve(reference.path) } : reference,
    process.env,
  );
  if (secret.kind === 'problem') throw new UsageError(`--token: ${secret.message}`);
  secret.warnings.forEach((warning) => {
    printError(`warning: ${warning}`);
  });
  return secret.value;
}

function describe({
  baseUrl,
  chatUrl,
  token,
  workspaceId,
  bots,
  webhookId,
  userKey,
  dataDir,
}: Emulator): object {
  const named = bots.map(({ id, name }) => ({ id, name }));
  return { baseUrl, chatUrl, token, workspaceId, bots: named, webhookId, userKey, dataDir };
}

function introduce(
  { baseUrl, chatUrl, token, workspaceId, bots, webhookId, userKey, dataDir }: Emulator,
  { token: ownToken }: EmulatorCommandOptions,
  rehearsal: Rehearsal,
): string {
  const bot = bots[0]?.id ?? '';
  const init = [
    `${invocation()} init --base-url ${baseUrl} --chat-url ${chatUrl} --workspace ${workspaceId}`,
    `--bot ${quoteForShell(bot)}`,
    ...(ownToken === undefined ? [] : [`--token ${quoteForShell(absolute(ownToken))}`]),
    '--directory ./docs --yes',
  ].join(' ');
  return [
    `The local platform listens on ${baseUrl}; open it in a browser to see its data. Press Ctrl-C to stop it.`,
    ...describeRehearsal(rehearsal),
    '',
    ownToken === undefined
      ? 'To sync ./docs to it, paste into another shell (the token is valid only for this emulator):'
      : 'To sync ./docs to it, paste into another shell:',
    ...(ownToken === undefined ? [`  export BOTSYNC_TOKEN=${token}`] : []),
    `  ${init}`,
    '',
    'To send messages, add to "platform" in the configuration, and run in the shell:',
    `  "chat": { "webhookId": "${webhookId}", "userKey": "env:BOTSYNC_CHAT_KEY" }`,
    `  export BOTSYNC_CHAT_KEY=${userKey}`,
    '',
    `Bots: ${bots.map(({ id, name }) => (id === name ? id : `${id} (${name})`)).join(', ')}`,
    `Data: ${dataDir}`,
  ].join('\n');
}

/** Makes the path of a `file:` reference absolute. */
function absolute(reference: string): string {
  return reference.startsWith('file:') ? `file:${resolve(reference.slice('file:'.length))}` : reference;
}

/** Failures of the local platform, to see how botsync reacts. */
export interface Rehearsal {
  /** Bytes per second that the store reads of all uploads together; `null` for no limit. */
  readonly slowBytesPerSecond: number | null;
  readonly outage: Outage | null;
}

/**
 * Every request is answered with this status after the start, for this many milliseconds, or until the emulator
 * ends (`null`).
 */
interface Outage {
  readonly status: number;
  readonly forMs: number | null;
}

export interface RehearsalOptions {
  /** Bytes per second; empty for the default. */
  readonly slow: string | undefined;
  readonly fail: number | undefined;
  /** A duration. */
  readonly failFor: string | undefined;
}

/** Slow enough to watch a file of some MB, in bytes per second. */
const USUAL_SLOW = 100_000;

/** Parses `--slow`, `--fail` and `--fail-for`. Throws `UsageError`. */
export function readRehearsal({ slow, fail, failFor }: RehearsalOptions): Rehearsal {
  return {
    slowBytesPerSecond: slow === undefined ? null : readRate(slow),
    outage:
      fail === undefined && failFor === undefined
        ? null
        : { status: readStatus(fail ?? 503), forMs: failFor === undefined ? null : readFor(failFor) },
  };
}

/** Starts a rehearsal and returns a function that ends it; `isOver` is called when an outage ends without a request to end it. */
export async function rehearse(
  { slowBytesPerSecond, outage }: Rehearsal,
  conditions: Conditions,
  isOver: () => void,
): Promise<() => void> {
  if (slowBytesPerSecond !== null)
    await conditions.set({ kind: 'slow-store', bytesPerSecond: slowBytesPerSecond });
  if (outage === null) return () => undefined;
  const { status, forMs } = outage;
  await conditions.set({ kind: 'unavailable', status });
  if (forMs === null) return () => undefined;
  const timer = setTimeout(() => {
    conditions.endOutage();
    isOver();
  }, forMs);
  return () => {
    clearTimeout(timer);
  };
}

/** Describes a rehearsal, one sentence per line. */
export function describeRehearsal({ slowBytesPerSecond, outage }: Rehearsal): string[] {
  const forMs = outage?.forMs ?? null;
  const until = forMs === null ? '' : ` for ${formatDuration(forMs)}`;
  return [
    ...(slowBytesPerSecond === null ? [] : [`Uploads are read at ${slowBytesPerSecond} bytes per second.`]),
    ...(outage === null ? [] : [`Every request is answered with ${outage.status}${until}.`]),
  ];
}

function readRate(text: string): number {
  const rate = text === '' ? USUAL_SLOW : Number(text);
  if (!Number.isSafeInteger(rate) || rate < 1)
    throw new UsageError(`--slow ${text}: write a number of bytes per second, such as ${USUAL_SLOW}`);
  return rate;
}

function readStatus(status: number): number {
  if (!Number.isInteger(status) || status < 400 || status > 599)
    throw new UsageError('--fail takes a status from 400 to 599, such as 503');
  return status;
}

function readFor(text: string): number {
  return demand('--fail-for', readTimer(demand('--fail-for', readDuration(text))));
}
