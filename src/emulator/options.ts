export interface EmulatorBot {
  readonly id: string;
  readonly name: string;
}

/** An integration of the hub; omitted fields are filled in. Source: interface.md, Integration. */
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

export interface EmulatorOptions {
  /** Created with mode 0700. The caller ensures that no second emulator uses it. */
  readonly dataDir: string;
  /** An IP address of this machine; default 127.0.0.1. */
  readonly host?: string | undefined;
  /** Default 0: any free port. */
  readonly port?: number | undefined;
  /** Added to the bots in the data; the last name given to an id counts. */
  readonly bots?: readonly EmulatorBot[] | undefined;
  /** Added to the built-in integrations for this run; replaces one of the same name and version. */
  readonly integrations?: readonly EmulatorIntegration[] | undefined;
  /** Default items per page. Default 100. */
  readonly pageSize?: number | undefined;
  /** Replaces the stored token for this run. */
  readonly token?: string | null | undefined;
  /** Replaces the stored workspace id for this run. */
  readonly workspaceId?: string | null | undefined;
  readonly quotas?: Partial<Quotas> | undefined;
  readonly limits?: Partial<Limits> | undefined;
  /** Without it there is no limit and no RateLimit header. */
  readonly rateLimit?: RateLimit | null | undefined;
  /** The operations besides the page: all (the default), or the five of interface.md. */
  readonly operations?: 'all' | 'specified' | undefined;
  /** Time that an indexed file stays indexing_pending after its last byte. Default 0; Infinity: forever. */
  readonly indexingDelayMs?: number | undefined;
  /** Time that it then stays indexing_in_progress. Default 0. */
  readonly indexingProgressMs?: number | undefined;
  /** Globs of keys whose indexing fails. */
  readonly failIndexing?: readonly string[] | undefined;
  /** Lifetime of an uploadUrl, rounded up to seconds. Default 15 minutes. */
  readonly uploadUrlLifetimeMs?: number | undefined;
  /** Epoch milliseconds. Default Date.now. */
  readonly now?: (() => number) | undefined;
  /** Fills `emulator.requests`. Default false. */
  readonly recordRequests?: boolean | undefined;
  /** Number of latest requests that `emulator.requests` keeps. Default 10,000. */
  readonly recordedRequestsMax?: number | undefined;
}

/** Quotas of the workspace; unlimited (Infinity) by default. Sources: interface.md, Limits; platform-operations.md, Usage. */
export interface Quotas {
  readonly fileStorageBytes: number;
  readonly vectorStorageBytes: number;
  readonly indexedFiles: number;
}

/** Limits on a file. Sources: interface.md, Limits; platform-facts.md, Files. */
export interface Limits {
  /** Largest file with `index: true`. Default 95,000,000. */
  readonly indexBytes: number;
  /** Largest file. Default 1,000,000,000. */
  readonly fileBytes: number;
  /** Lower-case extensions without a dot; all others end as indexing_failed. */
  readonly indexableExtensions: readonly string[];
}

/** Maximum requests to the API in a window of time; refused ones do not count. */
export interface RateLimit {
  readonly requests: number;
  readonly windowMs: number;
  /** `fixed` (the default): a window starts with its first request. `sliding`: every stretch of time is a window. */
  readonly window?: 'fixed' | 'sliding';
  /** `all` (the default): RateLimit headers on every answer, and Retry-After on a refusal. */
  readonly tells?: 'all' | 'retry-after' | 'nothing';
}

/** The options with their defaults filled in. */
export type Settings = {
  readonly [Name in keyof EmulatorOptions]-?: Exclude<EmulatorOptions[Name], undefined>;
} & {
  readonly quotas: Quotas;
  readonly limits: Limits;
};

/** For the page, without `recordRequests`. */
const SHOWN_REQUESTS = 1000;

const DEFAULT_INDEXABLE = ['pdf', 'html', 'htm', 'txt', 'md', 'mdx', 'doc', 'docx', 'csv', 'json'];

const DEFAULTS = {
  host: '127.0.0.1',
  port: 0,
  bots: [],
  integrations: [],
  pageSize: 100,
  token: null,
  workspaceId: null,
  rateLimit: null,
  operations: 'all',
  indexingDelayMs: 0,
  indexingProgressMs: 0,
  failIndexing: [],
  uploadUrlLifetimeMs: 15 * 60_000,
  now: Date.now,
  recordRequests: false,
  recordedRequestsMax: 10_000,
} as const satisfies Omit<Settings, 'dataDir' | 'quotas' | 'limits'>;

export function resolveSettings(options: EmulatorOptions): Settings {
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  const settings = { ...DEFAULTS, ...(Object.fromEntries(given) as EmulatorOptions) } as Settings;
  return {
    ...settings,
    quotas: {
      fileStorageBytes: Infinity,
      vectorStorageBytes: Infinity,
      indexedFiles: Infinity,
      ...options.quotas,
    },
    limits: {
      indexBytes: 95_000_000,
      fileBytes: 1_000_000_000,
      indexableExtensions: DEFAULT_INDEXABLE,
      ...options.limits,
    },
    recordedRequestsMax: settings.recordRequests ? settings.recordedRequestsMax : SHOWN_REQUESTS,
  };
}
