/** A bot that exists on the emulated platform. */
export interface EmulatorBot {
  readonly id: string;
  readonly name: string;
  /** The bot's own credentials, for this run: good for its files and conversations, not for the administration area. */
  readonly token?: string | undefined;
}

/** An integration of the emulated hub; what is left out is filled in. Source: interface.md, Integration. */
export interface EmulatorIntegration {
  readonly name: string;
  /** A semver version without a range. */
  readonly version: string;
  readonly title?: string;
  readonly description?: string;
  readonly channels?: Readonly<Record<string, unknown>>;
  readonly actions?: Readonly<Record<string, unknown>>;
  readonly events?: Readonly<Record<string, unknown>>;
}

/** What may be set on an emulator; everything but the data directory has a default. */
export interface EmulatorOptions {
  /** Where everything is kept; created with mode 0700. The caller makes sure that no second emulator uses it. */
  readonly dataDir: string;
  /** Default 127.0.0.1. */
  readonly host?: string | undefined;
  /** Default 0: a free port of the system's choice. */
  readonly port?: number | undefined;
  /** Added to the bots already in the data; the name given last counts. */
  readonly bots?: readonly EmulatorBot[] | undefined;
  /** Added to the built-in integrations of the hub for this run; one of the same name and version replaces it. */
  readonly integrations?: readonly EmulatorIntegration[] | undefined;
  /** Items a page of every list, unless the request says otherwise. Default 100. */
  readonly pageSize?: number | undefined;
  /** Replaces the kept token for this run. */
  readonly token?: string | undefined;
  /** Replaces the kept workspace id for this run. */
  readonly workspaceId?: string | undefined;
  readonly quotas?: Partial<Quotas> | undefined;
  readonly limits?: Partial<Limits> | undefined;
  /** Without it nothing is limited and no RateLimit header is sent. */
  readonly rateLimit?: RateLimit | undefined;
  /** What is served beside the page: all that the emulator knows (the default) or the five operations of interface.md. */
  readonly operations?: 'all' | 'specified' | undefined;
  /** How long a file stays upload_pending after its last byte. Default 0; Infinity: for good. */
  readonly noticeDelayMs?: number | undefined;
  /** How long an indexed file then stays indexing_pending. Default 0; Infinity: for good. */
  readonly indexingDelayMs?: number | undefined;
  /** How long it then stays indexing_in_progress. Default 0. */
  readonly indexingProgressMs?: number | undefined;
  /** Globs of keys whose indexing fails. */
  readonly failIndexing?: readonly string[] | undefined;
  /** How long the signed address of content is good for, in whole seconds (rounded up). Default an hour. */
  readonly contentUrlLifetimeMs?: number | undefined;
  /** How long an uploadUrl is good for, in whole seconds (rounded up). Default 15 minutes. */
  readonly uploadUrlLifetimeMs?: number | undefined;
  /** Epoch milliseconds. Default Date.now. */
  readonly now?: (() => number) | undefined;
  /** Whether `emulator.requests` is filled. Default false. */
  readonly recordRequests?: boolean | undefined;
  /** How many of the latest requests `emulator.requests` keeps. Default 10,000. */
  readonly recordedRequestsMax?: number | undefined;
}

/** Quotas of the workspace; unlimited (Infinity) by default. Sources: interface.md, Limits; platform-operations.md, Usage. */
export interface Quotas {
  readonly fileStorageBytes: number;
  readonly vectorStorageBytes: number;
  readonly indexedFiles: number;
}

/** Limits a request. Sources: interface.md, Limits; platform-facts.md, Files and Bots, hub, conversations, messages. */
export interface Limits {
  /** Largest file with `index: true`. Default 95,000,000. */
  readonly indexBytes: number;
  /** Largest file. Default 1,000,000,000. */
  readonly fileBytes: number;
  /** Largest JSON body. Default 1,000,000. */
  readonly jsonBytes: number;
  /** Largest message payload as JSON. Default 128,000. */
  readonly payloadBytes: number;
  /** Lower-case extensions without a dot; any other ends as indexing_failed. */
  readonly indexableExtensions: readonly string[];
}

/** So many requests to the API in a window of time; refused ones do not count. */
export interface RateLimit {
  readonly requests: number;
  readonly windowMs: number;
  /** `fixed` (the default): a window starts with its first request. `sliding`: any stretch of time is a window. */
  readonly window?: 'fixed' | 'sliding';
  /** `all` (the default): RateLimit headers on every answer, and Retry-After on a refusal. */
  readonly tells?: 'all' | 'retry-after' | 'nothing';
}

/** The options with their defaults filled in. */
export interface Settings {
  readonly dataDir: string;
  readonly host: string;
  readonly port: number;
  readonly bots: readonly EmulatorBot[];
  readonly integrations: readonly EmulatorIntegration[];
  readonly pageSize: number;
  readonly token: string | null;
  readonly workspaceId: string | null;
  readonly quotas: Quotas;
  readonly limits: Limits;
  readonly rateLimit: RateLimit | null;
  readonly operations: 'all' | 'specified';
  readonly noticeDelayMs: number;
  readonly indexingDelayMs: number;
  readonly indexingProgressMs: number;
  readonly failIndexing: readonly string[];
  readonly contentUrlLifetimeMs: number;
  readonly uploadUrlLifetimeMs: number;
  readonly now: () => number;
  readonly recordRequests: boolean;
  readonly recordedRequestsMax: number;
}

/** How many of the latest requests the page can show. */
const SHOWN_REQUESTS = 1000;

const DEFAULT_INDEXABLE = ['pdf', 'html', 'htm', 'txt', 'md', 'mdx', 'doc', 'docx', 'csv', 'json'];

/** Fills in the defaults of all options. */
export function resolveSettings(options: EmulatorOptions): Settings {
  return {
    dataDir: options.dataDir,
    host: options.host ?? '127.0.0.1',
    port: options.port ?? 0,
    bots: options.bots ?? [],
    integrations: options.integrations ?? [],
    pageSize: options.pageSize ?? 100,
    token: options.token ?? null,
    workspaceId: options.workspaceId ?? null,
    quotas: {
      fileStorageBytes: Infinity,
      vectorStorageBytes: Infinity,
      indexedFiles: Infinity,
      ...options.quotas,
    },
    limits: {
      indexBytes: 95_000_000,
      fileBytes: 1_000_000_000,
      jsonBytes: 1_000_000,
      payloadBytes: 128_000,
      indexableExtensions: DEFAULT_INDEXABLE,
      ...options.limits,
    },
    rateLimit: options.rateLimit ?? null,
    operations: options.operations ?? 'all',
    noticeDelayMs: options.noticeDelayMs ?? 0,
    indexingDelayMs: options.indexingDelayMs ?? 0,
    indexingProgressMs: options.indexingProgressMs ?? 0,
    failIndexing: options.failIndexing ?? [],
    contentUrlLifetimeMs: options.contentUrlLifetimeMs ?? 60 * 60_000,
    uploadUrlLifetimeMs: options.uploadUrlLifetimeMs ?? 15 * 60_000,
    now: options.now ?? Date.now,
    recordRequests: options.recordRequests ?? false,
    recordedRequestsMax:
      options.recordRequests === true ? (options.recordedRequestsMax ?? 10_000) : SHOWN_REQUESTS,
  };
}
