import type { SecretReference } from '../config/config.ts';
import type { LoadedConfig } from '../config/load-config.ts';
import { renderProblem } from '../config/problem.ts';
import { requirePlatform, type PlatformUse } from '../config/require-platform.ts';
import { resolveSecret } from '../config/secrets.ts';
import { EXIT } from '../domain/exit-code.ts';
import type { Identity } from '../domain/identity.ts';
import type { Emulator } from '../emulator/emulator.ts';
import { PlatformAdministration } from '../platform/administration.ts';
import { PlatformChat } from '../platform/chat.ts';
import { PlatformConversations } from '../platform/conversations.ts';
import type { Http } from '../platform/http.ts';
import type { RepeatSettings } from '../platform/repeat.ts';
import { listenForStop } from '../service/stop-signals.ts';
import { systemClock } from '../service/system-clock.ts';
import { createCommandLog } from './command-log.ts';
import type { EmbeddedEmulator } from './embedded-emulator.ts';
import type { GlobalOptions } from './global-options.ts';
import { load } from './load.ts';
import { openHttp } from './open-http.ts';
import { UsageError } from './usage-error.ts';

/** The identity headers that conversations take (interface.md, Create a conversation: Headers). */
export type ConversationIdentity = Pick<Identity, 'integrationId' | 'integrationAlias'>;

/** The platform's operations beside files, or the emulator's in their place. */
export interface Clients {
  /** The secrets that were used: they never reach the output. */
  readonly secrets: readonly string[];
  /** Each throws `UsageError` when the config lacks what it takes. */
  readonly administration: () => PlatformAdministration;
  /** @param identity - counts before that of the config; `alone`: that of the config does not count at all. */
  readonly conversations: (identity: ConversationIdentity, alone?: 'alone') => PlatformConversations;
  readonly chat: () => PlatformChat;
}

/** One command's dealings with the platform. */
export interface Session extends Clients {
  /** Aborts when the user asks the command to end. */
  readonly signal: AbortSignal;
}

/** What is told beside the results. */
export interface Notices {
  readonly warn: (message: string) => void;
  readonly retrying: (reason: string, delayMs: number) => void;
}

/**
 * Runs a command that calls the platform. Returns its exit code, or 130 when a signal ended it; throws `UsageError`.
 *
 * @param name - the command, for whoever meets the emulator's lock.
 */
export function withSession(
  options: GlobalOptions,
  name: string,
  task: (session: Session) => Promise<number>,
): Promise<number> {
  const loaded = load(options);
  const log = createCommandLog(options);
  for (const warning of loaded.warnings) log.warn(renderProblem(warning));
  const notices: Notices = {
    warn: log.warn,
    retrying: (reason, delayMs) => {
      log.warn('trying again', { reason, delayMs: Math.round(delayMs) });
    },
  };
  return runSession(loaded, options.emulator, name, notices, task);
}

/** The same for a configuration that is loaded already. */
export async function runSession(
  loaded: LoadedConfig,
  useEmulator: boolean,
  name: string,
  notices: Notices,
  task: (session: Session) => Promise<number>,
): Promise<number> {
  const http = openHttp(loaded.config, !useEmulator, systemClock);
  const signals = listenForStop(
    () => undefined,
    () => process.exit(EXIT.interrupted),
  );
  let embedded: EmbeddedEmulator | null = null;
  try {
    if (useEmulator) {
      const { startEmbedded } = await import('./embedded-emulator.ts');
      embedded = await startEmbedded(loaded.config, `${name} --emulator`);
    }
    const clients = openClients(loaded, embedded?.emulator ?? null, http, notices);
    const exitCode = await task({ ...clients, signal: signals.stop });
    return signals.stop.aborted ? EXIT.interrupted : exitCode;
  } catch (error) {
    if (signals.stop.aborted && error instanceof UsageError) return EXIT.interrupted;
    throw error;
  } finally {
    signals.release();
    try {
      await http.close();
    } finally {
      await embedded?.close();
    }
  }
}

/** Makes the clients of a configuration. `emulator`: in place of the platform. */
export function openClients(
  loaded: LoadedConfig,
  emulator: Emulator | null,
  http: Http,
  notices: Notices,
): Clients {
  const { platform, sources, upload } = loaded.config;
  const secrets: string[] = [];
  const repeats: RepeatSettings = {
    attempts: upload.attempts,
    giveUpAfterMs: upload.giveUpAfterMs,
    random: Math.random,
    onRetry: notices.retrying,
  };
  const baseUrl = emulator?.baseUrl ?? platform.baseUrl;
  const remember = (secret: string): string => {
    secrets.push(secret);
    return secret;
  };
  // Read once: a file that goes away later is no concern of clients that are made later.
  let known: string | null = null;
  const token = (): string =>
    (known ??= remember(emulator?.token ?? readSecret(loaded, 'platform.token', platform.token, notices)));
  const demand = (use: PlatformUse): void => {
    if (emulator === null) demandFields(loaded, use);
  };
  return {
    secrets,
    administration: () => {
      demand('admin');
      const workspaceId = emulator?.workspaceId ?? platform.workspaceId ?? '';
      return new PlatformAdministration(http, baseUrl, { token: token(), workspaceId }, repeats);
    },
    conversations: (identity, alone) => {
      demand('conversation');
      const botId = platform.botId ?? sources[0]?.botId ?? '';
      const own = alone === 'alone' ? {} : platform.identity;
      const caller = { token: token(), botId, identity: { ...own, ...identity } };
      return new PlatformConversations(http, baseUrl, caller, repeats);
    },
    chat: () => {
      demand('message');
      const userKey = remember(
        emulator?.userKey ??
          readSecret(loaded, 'platform.chat.userKey', platform.chat?.userKey ?? null, notices),
      );
      const webhookId = emulator?.webhookId ?? platform.chat?.webhookId ?? '';
      return new PlatformChat(http, emulator?.chatUrl ?? platform.chatUrl, { webhookId, userKey }, repeats);
    },
  };
}

function demandFields(loaded: LoadedConfig, use: PlatformUse): void {
  const problems = requirePlatform(loaded, use);
  if (problems.length > 0) throw new UsageError(problems.map(renderProblem).join('\n'));
}

function readSecret(
  { file }: LoadedConfig,
  field: string,
  reference: SecretReference | null,
  { warn }: Notices,
): string {
  if (reference === null) throw new Error(`${field} is missing, though it was demanded`);
  const resolved = resolveSecret(reference, process.env);
  if (resolved.kind === 'problem') throw new UsageError(`${file}: ${field}: ${resolved.message}`);
  resolved.warnings.forEach(warn);
  return resolved.value;
}
