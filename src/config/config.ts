import { dirname, join } from 'node:path';
import type { ByteRate } from '../domain/byte-rate.ts';
import type { RemovalMode } from '../domain/record.ts';
import type { BotId } from '../domain/key.ts';
import type { Identity } from '../domain/identity.ts';
import type { Limits } from '../domain/limits.ts';
import type { ListenAddress } from '../domain/listen-address.ts';
import type { NotifySettings, ConversationChoice } from '../domain/notice.ts';
import type { Rule } from '../domain/rules.ts';
import { isDeepStrictEqual } from 'node:util';

/** Where a secret is stored; the config never contains the secret itself. `path` is absolute in a `Config`. */
export type SecretReference =
  | { readonly kind: 'env'; readonly name: string }
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'credential'; readonly name: string };

/**
 * The config's `platform` block. Addresses have no trailing slash. Optional fields that are absent in the file are
 * `null`.
 */
export interface PlatformConfig {
  readonly baseUrl: string;
  readonly chatUrl: string;
  readonly workspaceId: string | null;
  readonly botId: BotId | null;
  readonly token: SecretReference | null;
  readonly chat: { readonly webhookId: string; readonly userKey: SecretReference } | null;
  /** `auto`: operations beyond interface.md are used where they are served; `specified`: never. */
  readonly operations: 'auto' | 'specified';
  /** Each file gets a mark in its metadata. */
  readonly mark: boolean;
  readonly identity: Identity;
}

/** One entry of the config's `sources`, with defaults. */
export interface SourceConfig {
  readonly name: string;
  /** An absolute path. */
  readonly directory: string;
  readonly keyPrefix: string;
  readonly botId: BotId;
  /** The token for its bot; `null`: `platform.token`. Equal for all sources of a bot. */
  readonly token: SecretReference | null;
  /** Patterns in gitignore syntax, after the built-in ones. */
  readonly ignore: readonly string[];
  readonly symlinks: 'skip' | 'inside' | 'follow';
}

export interface ClusterConfig {
  /** Where the address of the PostgreSQL database is stored, which contains a password. */
  readonly database: SecretReference;
  /** The schema with the tables of botsync: an identifier that PostgreSQL accepts without quotes. */
  readonly schema: string;
  /** The name of this host, unique in the cluster. */
  readonly host: string;
  /** A host that was silent for this long loses its units. */
  readonly leaseMs: number;
  /** How long after a takeover files are sent again that the former holder may still have been sending. */
  readonly suspectAfterMs: number;
}

/** A complete configuration: checked, with defaults, absolute paths, and durations in milliseconds. */
export interface Config {
  /** The absolute path of the config file. */
  readonly file: string;
  readonly platform: PlatformConfig;
  readonly sources: readonly SourceConfig[];
  readonly rules: readonly Rule[];
  readonly limits: Limits;
  readonly removals: {
    readonly mode: RemovalMode;
    readonly delayMs: number;
    readonly maxCount: number;
    readonly maxFraction: number;
  };
  readonly upload: {
    readonly concurrency: number;
    readonly attempts: number;
    readonly stallTimeoutMs: number;
    readonly giveUpAfterMs: number;
    readonly maxBytesPerSecond: ByteRate;
    /** `null`: no limit. */
    readonly maxRequestsPerSecond: number | null;
  };
  readonly confirm: {
    /** How long a single pass waits for the final status of the files that it sent. */
    readonly waitMs: number;
  };
  readonly verify: {
    /** How often a daemon compares all files on the platform with what was sent; `null`: never. */
    readonly everyMs: number | null;
    /** Files of ours that differ are repaired. */
    readonly repair: boolean;
  };
  readonly watch: {
    readonly settleMs: number;
    readonly maxDelayMs: number;
    readonly rescanMs: number;
    readonly poll: boolean;
    readonly pollIntervalMs: number;
  };
  readonly service: {
    /** `null`: the service listens nowhere. */
    readonly listen: ListenAddress | null;
    /** The secret for actions from the page; `null`: no actions. */
    readonly control: SecretReference | null;
    /** A daemon whose event loop is blocked for this long is ended. */
    readonly hangTimeoutMs: number;
    /** A daemon reloads automatically when the config or a file with a secret has changed. */
    readonly reloadOnChange: boolean;
  };
  /** `null`: no notifications. */
  readonly notify: (NotifySettings & { readonly place: NotificationPlace }) | null;
  /** `null`: there is no cluster, only the state file. */
  readonly cluster: ClusterConfig | null;
  /** Absolute. */
  readonly stateFile: string;
}

/** Returns the position in `sources` of the first that has a token of its own for a bot; -1: `platform.token` is used. */
export function ownTokenPosition({ sources }: Pick<Config, 'sources'>, botId: string): number {
  return sources.findIndex((source) => source.botId === botId && source.token !== null);
}

/** Where notifications go. */
export type NotificationPlace =
  | ConversationChoice
  /** Its address is a secret: whoever knows it can post. */
  | { readonly kind: 'webhook'; readonly url: SecretReference };

/** Returns whether notifications go through the chat. */
export function notifiesByChat({ notify }: Pick<Config, 'notify'>): boolean {
  return notify !== null && notify.place.kind !== 'webhook';
}

/** Returns where the embedded emulator keeps its data and its secrets. */
export function emulatorDirectory({ file }: Pick<Config, 'file'>): string {
  return join(dirname(file), '.botsync', 'emulator');
}

/** Returns the blocks of the file, such as `rules`, that differ between two configurations. */
export function changedBlocks(before: Config, after: Config): string[] {
  return (Object.keys(after) as (keyof Config)[]).filter(
    (block) => !isDeepStrictEqual(before[block], after[block]),
  );
}
