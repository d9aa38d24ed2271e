import { dirname, join } from 'node:path';
import type { RemovalMode } from '../domain/absence.ts';
import type { BotId } from '../domain/brands.ts';
import type { Identity } from '../domain/identity.ts';
import type { Limits } from '../domain/limits.ts';
import type { ListenAddress } from '../domain/listen-address.ts';
import type { NotifySettings, ConversationChoice } from '../domain/notice.ts';
import type { Rule } from '../domain/rules.ts';

/** Where a secret is kept; the config never holds the secret itself. `path` is absolute. */
export type SecretReference =
  | { readonly kind: 'env'; readonly name: string }
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'credential'; readonly name: string };

/** The config's `platform` block. Addresses have no trailing slash. What is optional in the file and was left out is `null`. */
export interface PlatformConfig {
  readonly baseUrl: string;
  readonly chatUrl: string;
  readonly workspaceId: string | null;
  readonly botId: BotId | null;
  readonly token: SecretReference | null;
  readonly chat: { readonly webhookId: string; readonly userKey: SecretReference } | null;
  /** Whether operations beyond interface.md are used where they are served: `auto`; `specified`: never. */
  readonly operations: 'auto' | 'specified';
  /** Whether the metadata of each file says what botsync sent. */
  readonly mark: boolean;
  readonly identity: Identity;
}

/** One entry of the config's `sources`, defaults filled in. */
export interface SourceConfig {
  readonly name: string;
  /** Absolute. */
  readonly directory: string;
  readonly keyPrefix: string;
  readonly botId: BotId;
  /** Patterns in gitignore syntax, after the built-in ones. */
  readonly ignore: readonly string[];
  readonly symlinks: 'skip' | 'inside' | 'follow';
  /** The one host of the cluster that keeps this source, by its name; `null`: any of them may. Without a cluster always `null`. */
  readonly host: string | null;
}

/** The config's `cluster` block: what this host and the others share, and what this one takes of it. */
export interface ClusterConfig {
  /** Where the address of the PostgreSQL database is kept; the address holds a password. */
  readonly database: SecretReference;
  /** The schema with the tables of botsync: a name that PostgreSQL takes without quotes. */
  readonly schema: string;
  /** The name of this host, unlike any other of the cluster. */
  readonly host: string;
  /** A host that was not heard of for so long loses its units. */
  readonly leaseMs: number;
  /** How many of the units this host should have, relative to the others; 0: pinned sources only. */
  readonly weight: number;
  /** Of all hosts with the same budget together. */
  readonly requestsPerSecond: number;
  /** `null`: that of the workspace. */
  readonly budget: string | null;
  /** How long after a takeover files that the former holder may have had in flight are sent once more. */
  readonly suspectAfterMs: number;
}

/** A whole configuration as the rest of the program sees it: checked, defaults filled in, paths absolute, durations in milliseconds. */
export interface Config {
  /** The config file itself, absolute. */
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
    /** `null`: no limit. */
    readonly maxBytesPerSecond: number | null;
    /** `null`: no limit. */
    readonly maxRequestsPerSecond: number | null;
  };
  readonly confirm: {
    /** How long a single pass waits for the platform to say the status of the files that it sent. */
    readonly waitMs: number;
  };
  readonly verify: {
    /** How often a daemon compares all that the platform has with what was sent; `null`: never. */
    readonly everyMs: number | null;
    /** Whether it repairs what is ours. */
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
    /** `null`: nowhere. */
    readonly listen: ListenAddress | null;
    /** What people sign in with to act from the page; `null`: nobody can. */
    readonly control: SecretReference | null;
    /** A daemon whose event loop stands still for so long is ended. */
    readonly hangTimeoutMs: number;
    /** Whether a daemon takes up changes of the config and of secrets in files without being asked. */
    readonly reloadOnChange: boolean;
  };
  /** `null`: people are told nothing. */
  readonly notify: (NotifySettings & { readonly place: ConversationChoice }) | null;
  /** `null`: this host is alone, and the state file is all there is. */
  readonly cluster: ClusterConfig | null;
  /** Absolute. */
  readonly stateFile: string;
}

/** Where the embedded emulator keeps its data and its secrets: beside the config. */
export function emulatorDirectory({ file }: Pick<Config, 'file'>): string {
  return join(dirname(file), '.botsync', 'emulator');
}
