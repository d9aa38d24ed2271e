import { ownTokenPosition, type SecretReference } from '../../config/config.ts';
import type { LoadedConfig } from '../../config/load-config.ts';
import type { ConfigProblem } from '../../config/problem.ts';
import { requirePlatform, type PlatformUse } from '../../config/require-platform.ts';
import { resolveSecret, type SecretResult } from '../../config/secrets.ts';
import type { Emulator } from '../../emulator/emulator.ts';
import { configurationError, partsOf, SyncError } from '../sync-error.ts';

export type SecretField =
  | 'platform.token'
  | 'platform.chat.userKey'
  | `sources[${number}].token`
  | 'service.control'
  | 'notify.webhook';

/** Minimum length in characters: anyone who reaches the page may guess the secret. */
const SHORTEST_CONTROL_SECRET = 16;

/**
 * The addresses, names and secrets for the platform or, without configuration, for the emulator. Each secret is read
 * once, on first use: its file may be deleted later.
 */
export class Credentials {
  /** Secrets used so far, which must never be printed. */
  readonly secrets: string[] = [];
  readonly baseUrl: string;
  readonly chatUrl: string;
  /** Empty if not configured: see `demand`. */
  readonly workspaceId: string;
  /** Empty if not configured: see `demand`. */
  readonly webhookId: string;
  readonly #loaded: LoadedConfig;
  readonly #emulator: Emulator | null;
  readonly #env: NodeJS.ProcessEnv;
  readonly #warn: (message: string) => void;
  readonly #used = new Set<SecretField>();
  readonly #found = new Map<SecretField, SecretResult>();

  /**
   * @param env - contains secrets and `CREDENTIALS_DIRECTORY`.
   * @param warn - called once per problem of a secret that is used nevertheless.
   */
  constructor(
    loaded: LoadedConfig,
    emulator: Emulator | null,
    env: NodeJS.ProcessEnv,
    warn: (message: string) => void,
  ) {
    const { platform } = loaded.config;
    this.#loaded = loaded;
    this.#emulator = emulator;
    this.#env = env;
    this.#warn = warn;
    this.baseUrl = emulator?.baseUrl ?? platform.baseUrl;
    this.chatUrl = emulator?.chatUrl ?? platform.chatUrl;
    this.workspaceId = emulator?.workspaceId ?? platform.workspaceId ?? '';
    this.webhookId = emulator?.webhookId ?? platform.chat?.webhookId ?? '';
  }

  /** Returns what the configuration lacks for a use of the platform. */
  lacking(use: PlatformUse): ConfigProblem[] {
    return this.#emulator === null ? requirePlatform(this.#loaded, use) : [];
  }

  /** Throws `SyncError` if the configuration lacks something for a use of the platform. */
  demand(use: PlatformUse): void {
    const problems = this.lacking(use);
    if (problems.length > 0) throw configurationError(problems);
  }

  /** Returns the access token of the workspace. Throws `SyncError` if it cannot be read. */
  token(): string {
    return this.#use('platform.token');
  }

  /** Returns the access token for a bot. Throws `SyncError` if it cannot be read. */
  tokenOf(botId: string): string {
    return this.#use(this.#tokenField(botId));
  }

  /** Returns the tokens of all sources, by bot. Throws `SyncError` if one cannot be read. */
  sourceTokens(): Map<string, string> {
    return new Map(this.#loaded.config.sources.map(({ botId }) => [botId, this.tokenOf(botId)]));
  }

  #tokenField(botId: string): SecretField {
    const position = ownTokenPosition(this.#loaded.config, botId);
    return position === -1 || this.#emulator !== null ? 'platform.token' : `sources[${position}].token`;
  }

  /** Returns the key of the chat user. Throws `SyncError` if it cannot be read. */
  userKey(): string {
    return this.#use('platform.chat.userKey');
  }

  /** Returns the address for notifications. Throws `SyncError` if it cannot be read, or is no http(s) address. */
  webhook(): URL {
    return new URL(this.#use('notify.webhook'));
  }

  /**
   * Returns the secret for actions on the page; `null`: nobody can act. Throws `SyncError` if it cannot be read or is
   * too short; with the emulator that only causes a warning.
   */
  control(): string | null {
    const found = this.find('service.control');
    if (found === null) return null;
    if (found.kind === 'problem' && this.#emulator !== null) {
      this.#warn(`service.control: ${found.message}; until then nobody can act from the page`);
      return null;
    }
    return this.#use('service.control');
  }

  /** Returns the configured reference of a secret; `null`: there is none, or the emulator replaces it. */
  referenceOf(field: SecretField): SecretReference | null {
    const { platform, sources, service, notify } = this.#loaded.config;
    if (field === 'service.control') return service.control;
    if (field === 'notify.webhook') return notify?.place.kind === 'webhook' ? notify.place.url : null;
    if (this.#emulator !== null) return null;
    if (field === 'platform.token') return platform.token;
    if (field === 'platform.chat.userKey') return platform.chat?.userKey ?? null;
    return sources.find((_, position) => field === `sources[${position}].token`)?.token ?? null;
  }

  /** Returns a secret, or the reason why it cannot be read; `null`: not configured. */
  find(field: SecretField): SecretResult | null {
    const known = this.#found.get(field);
    if (known !== undefined) return known;
    const found = this.#read(field);
    if (found !== null) this.#found.set(field, found);
    return found;
  }

  #read(field: SecretField): SecretResult | null {
    if (field === 'service.control') return this.#readControl();
    if (field === 'notify.webhook') return this.#readWebhook();
    if (this.#emulator !== null) {
      const { token, userKey } = this.#emulator;
      return { kind: 'ok', value: field === 'platform.chat.userKey' ? userKey : token, warnings: [] };
    }
    const reference = this.referenceOf(field);
    return reference === null ? null : resolveSecret(reference, this.#env);
  }

  #readControl(): SecretResult | null {
    const reference = this.referenceOf('service.control');
    const found = reference === null ? null : resolveSecret(reference, this.#env);
    if (found?.kind !== 'ok' || found.value.length >= SHORTEST_CONTROL_SECRET) return found;
    const message = `the secret has only ${found.value.length} characters; write one of at least ${SHORTEST_CONTROL_SECRET}, such as: openssl rand -hex 16`;
    return { kind: 'problem', message };
  }

  #readWebhook(): SecretResult | null {
    const reference = this.referenceOf('notify.webhook');
    const found = reference === null ? null : resolveSecret(reference, this.#env);
    if (found?.kind !== 'ok' || isWebAddress(found.value)) return found;
    // The text is not shown: it may be another secret.
    return {
      kind: 'problem',
      message: 'the secret is not an http(s) address; write one such as https://HOST/PATH',
    };
  }

  #use(field: SecretField): string {
    const found = this.find(field);
    if (found === null) throw new Error(`${field} is missing, although it is required`);
    if (found.kind === 'problem') {
      const place = `${this.#loaded.file}: ${field}`;
      const message = `${place}: ${found.message}`;
      const { file, locate } = this.#loaded;
      const problem = { file, position: locate(parseField(field)), field, message: found.message };
      throw new SyncError('configuration', {
        ...{ place, ...partsOf(found.message), message },
        problems: [problem],
      });
    }
    const { value, warnings } = found;
    if (!this.#used.has(field)) {
      this.#used.add(field);
      this.secrets.push(value);
      for (const warning of warnings) this.#warn(warning);
    }
    return value;
  }
}

function isWebAddress(text: string): boolean {
  return /^https?:\/\//iu.test(text) && URL.canParse(text);
}

/** Returns the path of a field such as `sources[0].token`. */
function parseField(field: SecretField): (string | number)[] {
  return [...field.matchAll(/\[(\d+)\]|[^.[]+/gu)].map(([name, position]) =>
    position === undefined ? name : Number(position),
  );
}
