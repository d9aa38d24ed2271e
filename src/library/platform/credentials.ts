import type { SecretReference } from '../../config/config.ts';
import type { LoadedConfig } from '../../config/load-config.ts';
import type { ConfigProblem } from '../../config/problem.ts';
import { requirePlatform, type PlatformUse } from '../../config/require-platform.ts';
import { resolveSecret, type SecretResult } from '../../config/secrets.ts';
import type { Emulator } from '../../emulator/emulator.ts';
import { configurationError, partsOf, SyncError } from '../sync-error.ts';

/** A field of the configuration that names a secret. */
export type SecretField = 'platform.token' | 'platform.chat.userKey' | 'service.control';

/** Whoever reaches the page may guess, so that a short secret will not do, characters. */
const SHORTEST_CONTROL_SECRET = 16;

/**
 * Where the platform is and as whom it is called: as the configuration says, or the emulator in its place, which needs
 * none of that. A secret is read once, when it is first asked for: its file may go away later.
 */
export class Credentials {
  /** The secrets that were used so far: they never reach the output. */
  readonly secrets: string[] = [];
  readonly baseUrl: string;
  readonly chatUrl: string;
  /** Empty where the configuration has none: see `demand`. */
  readonly workspaceId: string;
  /** Empty where the configuration has none: see `demand`. */
  readonly webhookId: string;
  readonly #loaded: LoadedConfig;
  readonly #emulator: Emulator | null;
  readonly #env: NodeJS.ProcessEnv;
  readonly #warn: (message: string) => void;
  readonly #used = new Set<SecretField>();
  readonly #found = new Map<SecretField, SecretResult>();

  /**
   * @param env - where secrets may be, and `CREDENTIALS_DIRECTORY`.
   * @param warn - told once of what is wrong with a secret that is used all the same.
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

  /** What the configuration lacks for a use of the platform. */
  lacking(use: PlatformUse): ConfigProblem[] {
    return this.#emulator === null ? requirePlatform(this.#loaded, use) : [];
  }

  /** Throws `SyncError` when the configuration lacks what a use of the platform takes. */
  demand(use: PlatformUse): void {
    const problems = this.lacking(use);
    if (problems.length > 0) throw configurationError(problems);
  }

  /** The access token. Throws `SyncError` when it is not where the configuration says. */
  token(): string {
    return this.#use('platform.token');
  }

  /** The key of the chat user. Throws `SyncError` when it is not where the configuration says. */
  userKey(): string {
    return this.#use('platform.chat.userKey');
  }

  /**
   * The secret with which people act from the page; `null`: nobody can. Throws `SyncError` when it is not where the
   * configuration says, or is too short; beside the emulator, which needs no secrets, that is warned of.
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

  /** Where the configuration keeps a secret; `null`: it names none, or the emulator's is taken. */
  referenceOf(field: SecretField): SecretReference | null {
    const { token, chat } = this.#loaded.config.platform;
    if (field === 'service.control') return this.#loaded.config.service.control;
    if (this.#emulator !== null) return null;
    return field === 'platform.token' ? token : (chat?.userKey ?? null);
  }

  /** A secret, or why there is none; `null`: the configuration names none. */
  find(field: SecretField): SecretResult | null {
    const known = this.#found.get(field);
    if (known !== undefined) return known;
    const found = this.#read(field);
    if (found !== null) this.#found.set(field, found);
    return found;
  }

  #read(field: SecretField): SecretResult | null {
    if (field === 'service.control') return this.#readControl();
    if (this.#emulator !== null) {
      const { token, userKey } = this.#emulator;
      return { kind: 'ok', value: field === 'platform.token' ? token : userKey, warnings: [] };
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

  #use(field: SecretField): string {
    const found = this.find(field);
    if (found === null) throw new Error(`${field} is missing, although it is required`);
    if (found.kind === 'problem') {
      const place = `${this.#loaded.file}: ${field}`;
      const message = `${place}: ${found.message}`;
      const { file, locate } = this.#loaded;
      const problem = { file, position: locate(field.split('.')), field, message: found.message };
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
