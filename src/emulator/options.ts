/** A bot that exists on the emulated platform. */
export interface EmulatorBot {
  readonly id: string;
  readonly name: string;
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
  /** How long an indexed file stays indexing_pending after its upload. Default 0. */
  readonly indexingDelayMs?: number | undefined;
  /** How long an uploadUrl is good for, in whole seconds (rounded up). Default 15 minutes. */
  readonly uploadUrlLifetimeMs?: number | undefined;
  /** Epoch milliseconds. Default Date.now. */
  readonly now?: (() => number) | undefined;
  /** Whether `emulator.requests` is filled. Default false. */
  readonly recordRequests?: boolean | undefined;
  /** How many of the latest requests `emulator.requests` keeps. Default 10,000. */
  readonly recordedRequestsMax?: number | undefined;
}

/** Storage quotas of the workspace in bytes; unlimited (Infinity) by default. Source: interface.md, Limits. */
export interface Quotas {
  readonly fileStorageBytes: number;
  readonly vectorStorageBytes: number;
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
  readonly indexingDelayMs: number;
  readonly uploadUrlLifetimeMs: number;
  readonly now: () => number;
  readonly recordedRequestsMax: number;
}

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
    quotas: { fileStorageBytes: Infinity, vectorStorageBytes: Infinity, ...options.quotas },
    limits: {
      indexBytes: 95_000_000,
      fileBytes: 1_000_000_000,
      jsonBytes: 1_000_000,
      payloadBytes: 128_000,
      indexableExtensions: DEFAULT_INDEXABLE,
      ...options.limits,
    },
    rateLimit: options.rateLimit ?? null,
    indexingDelayMs: options.indexingDelayMs ?? 0,
    uploadUrlLifetimeMs: options.uploadUrlLifetimeMs ?? 15 * 60_000,
    now: options.now ?? Date.now,
    recordedRequestsMax: options.recordRequests === true ? (options.recordedRequestsMax ?? 10_000) : 0,
  };
}
