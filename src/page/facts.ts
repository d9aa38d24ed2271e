import type { RemovalMode } from '../domain/record.ts';
import type { Known, Running, Standing } from '../domain/status.ts';
import type { HistoryBucket } from '../domain/history.ts';
import type { Usages } from '../domain/usage.ts';
import type { Style } from '../service/colour.ts';
import type { LogLevel } from '../service/logger.ts';

/** Everything that the page of a daemon shows, except for the choices of the visitor. Times are epoch milliseconds. */
export interface PageFacts {
  readonly nowMs: number;
  readonly version: string;
  readonly host: string;
  readonly pid: number;
  readonly startedAtMs: number;
  /** The bots of all sources, in the order of the configuration. `name`: `null` if not known. */
  readonly bots: readonly { readonly id: string; readonly name: string | null }[];
  /** When everything was last in sync; `null` if it was not since the start. */
  readonly lastInSyncMs: number | null;
  /** The options that name this configuration, for the end of every suggested command. */
  readonly commandEnd: string;
  /** True if botsync asks the platform for the status of files. */
  readonly isAsked: boolean;
  readonly removals: RemovalMode;
  readonly known: Known;
  readonly running: Running;
  readonly standing: Standing;
  readonly sources: readonly SourceFacts[];
  readonly transfers: Transfers;
  readonly requests: Requests;
  /** The span that the visitor chose, oldest first, without times in which nothing was done. */
  readonly history: readonly HistoryBucket[];
  readonly renewals: readonly Renewal[];
  /** Newest first. */
  readonly events: readonly PageEvent[];
  /** `null` if the use is not known. */
  readonly usage: { readonly usages: Usages; readonly askedAtMs: number } | null;
}

/** The configuration of a source, and how it is watched. */
export interface SourceFacts {
  readonly name: string;
  readonly directory: string;
  readonly botId: string;
  readonly keyPrefix: string;
  readonly notices:
    | { readonly kind: 'watching'; readonly directories: number }
    | { readonly kind: 'polling'; readonly everyMs: number };
  /** The first paths that it would remove from the platform, in path order; empty unless the source is halted. */
  readonly wouldRemove: readonly string[];
}

export interface Transfers {
  /** Largest first. */
  readonly inFlight: readonly Flight[];
  readonly bytesPerSecond: number;
  readonly filesPerSecond: number;
  /** Until everything known has been sent, in milliseconds; `null` if it cannot be estimated. */
  readonly leftMs: number | null;
  /** Progress of the first pass; `null` when it is over, and before the files were counted. */
  readonly firstPass: {
    readonly files: number;
    readonly bytes: number;
    readonly ofFiles: number;
    readonly ofBytes: number;
    /** The part that is done, between 0 and 1. */
    readonly part: number;
  } | null;
}

export interface Flight {
  /** `source/path`. */
  readonly name: string;
  readonly sizeBytes: number;
  readonly sentBytes: number;
  readonly forMs: number;
}

export interface Requests {
  readonly lastMinute: number;
  /** Requests per minute that the platform grants; `null` if not known. */
  readonly limit: number | null;
  /** How long the platform asked us to wait from now, in milliseconds. */
  readonly pausedForMs: number;
  /** Our own limits, from the configuration. */
  readonly ownRequestsPerSecond: number | null;
  readonly ownBytesPerSecond: number | null;
}

export interface Renewal {
  readonly source: string;
  readonly path: string;
  readonly renewAtMs: number;
  readonly expiresAtMs: number;
}

export interface PageEvent {
  /** Increases with each event. */
  readonly id: number;
  readonly atMs: number;
  readonly level: LogLevel;
  readonly style: Style | null;
  readonly text: string;
}

/** The choices of a visitor; an empty text is no choice. */
export interface PageQuery {
  /** The file to explain: its absolute path, or its source and its path in the source. */
  readonly file: string;
  /** Filters of the files that are not in sync. `text` is part of the name or of the reason. */
  readonly source: string;
  readonly kind: string;
  readonly text: string;
  /** Part of the text of the events that are shown. */
  readonly event: string;
  readonly span: HistorySpan;
}

/** The spans of the history that a visitor can choose. */
export const HISTORY_SPANS = ['1h', '24h', '30d'] as const;

export type HistorySpan = (typeof HISTORY_SPANS)[number];

/** The span without a choice. */
const USUAL_SPAN: HistorySpan = '24h';

/** In characters; no path is longer. */
const LONGEST = 5000;

/** Reads the query of an address; ignores unknown parameters. */
export function readPageQuery(params: URLSearchParams): PageQuery {
  const text = (name: string): string => (params.get(name) ?? '').slice(0, LONGEST).trim();
  // The name of a file may end with a space.
  const file = (params.get('file') ?? '').slice(0, LONGEST);
  const span = HISTORY_SPANS.find((one) => one === params.get('span')) ?? USUAL_SPAN;
  return {
    ...{ file, source: text('source'), kind: text('kind'), text: text('text') },
    ...{ event: text('event'), span },
  };
}

/** Returns the query of the address of the page: what is chosen, without what is usual. */
export function pageQueryText(query: PageQuery): string {
  const chosen = Object.entries(query).filter(
    ([field, value]) => value !== '' && !(field === 'span' && value === USUAL_SPAN),
  );
  return chosen.length === 0 ? '' : `?${new URLSearchParams(chosen as [string, string][]).toString()}`;
}
