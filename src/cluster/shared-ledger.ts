import type { Hindrance } from '../domain/hindrance.ts';
import type { LookupFailure, Outcome } from '../domain/failure.ts';

/**
 * The database did not answer, or refused.
 * - `unreachable`: whether the statement was run is unknown; it may be repeated.
 * - `refused`: repeating is useless until somebody changes something.
 */
export class DatabaseError extends Error {
  readonly kind: 'unreachable' | 'refused';
  /** True if this role lacks a right. */
  readonly isForbidden: boolean;
  /** True if the same records are never taken: bad data, a violated constraint, a missing right. */
  readonly isFinal: boolean;
  /** Advice, a clause such as "check its address"; `null` for a missing right. */
  readonly fix: string | null;

  constructor(
    kind: DatabaseError['kind'],
    message: string,
    {
      isForbidden = false,
      isFinal = false,
      fix = null,
    }: Partial<Pick<DatabaseError, 'isForbidden' | 'isFinal' | 'fix'>> = {},
  ) {
    super(message);
    this.name = 'DatabaseError';
    this.kind = kind;
    this.isForbidden = isForbidden;
    this.isFinal = isFinal;
    this.fix = fix;
  }
}

/** The right of one process to work on a unit. */
export interface Grant {
  readonly unit: number;
  readonly epoch: number;
  /** Names the process. */
  readonly instance: string;
  /** The number of shipments before. */
  readonly seq: number;
  /** The database may have lost records of the unit. */
  readonly isInDoubt: boolean;
}

/** Changed rows as JSON, see `Shipment` in src/store/working-copy.ts. */
export interface ShippedRows {
  readonly files: string;
  readonly droppedFiles: string;
  readonly entries: string;
}

/**
 * - `taken`: the ledger has the shipment.
 * - `lost`: nothing was written: another process holds the unit, or none does, or the database went back in time.
 * - `foreign`: some rows belong to another unit that is held, and only the others were written.
 */
export type Shipped = 'taken' | 'lost' | 'foreign';

/** A page of a unit's rows, as JSON arrays. */
export interface RowPage {
  readonly files: string;
  readonly entries: string;
}

export interface Target {
  readonly id: number;
  readonly baseUrl: string;
  readonly botId: string;
  readonly identity: string;
}

/** Runs one of several queries, with retries. */
export type Answer = <T>(question: () => Promise<T>) => Promise<T>;

/** The data that a host publishes with each heartbeat. */
export interface HostNews {
  readonly name: string;
  readonly instance: string;
  /** The host leaves after a pass: no host releases a unit for it. */
  readonly isVisitor: boolean;
  readonly version: string;
  /** Numbers of the units in its configuration that it would take. */
  readonly units: readonly number[];
  /** Why the host leaves some units to others. */
  readonly hindrances: readonly Hindrance[];
  /** The state of its sources, JSON. */
  readonly report: string | null;
  /** The rest of a pause that the platform asked for, milliseconds. */
  readonly pausedForMs: number;
}

/** A host as the ledger has it. */
export interface HostRow extends Omit<HostNews, 'report'> {
  readonly beat: number;
  /** `null`: none was given, or requested. */
  readonly report: unknown;
}

export interface UnitSourceRow {
  readonly name: string;
  readonly keyPrefix: string;
}

export interface UnitRow {
  readonly id: number;
  readonly target: number;
  readonly name: string;
  readonly sources: readonly UnitSourceRow[];
  readonly epoch: number;
  readonly beat: number;
  readonly seq: number;
  readonly holder: string | null;
  readonly holderHost: string | null;
  /** Everything in the unit that is older than this is on the platform, milliseconds; `null`: never reported. */
  readonly settledAgeMs: number | null;
}

/** The numbers of a unit that only grow. */
export type SeenOfUnit = Pick<UnitRow, 'epoch' | 'seq'>;

/** A command for the holder of a unit. */
export interface CommandRow {
  readonly id: number;
  readonly unit: number;
  readonly kind: string;
  readonly body: unknown;
}

/** A unit whose lease a beat proves. */
export interface Proof extends Pick<Grant, 'unit' | 'epoch'> {
  /** See `UnitRow.settledAgeMs`; `null`: unknown. */
  readonly settledAgeMs: number | null;
}

/** The cluster as a beat finds it. */
export interface ClusterView {
  /** The ledger still knows this process under its host name; otherwise another process has taken the name. */
  readonly isKnown: boolean;
  /** Numbers of the units whose leases the beat proved. */
  readonly proven: readonly number[];
  readonly hosts: readonly HostRow[];
  readonly units: readonly UnitRow[];
  readonly commands: readonly CommandRow[];
  /** MD5 of each source's configuration in the ledger, by source. */
  readonly settings: ReadonlyMap<string, string>;
  /** Changes with each restart of the database, and with a server that takes its place. */
  readonly databaseRun: string;
  readonly version: number;
  readonly stateVersion: number;
}

/** The result of checking a ledger's version. */
export type LedgerStanding =
  { readonly kind: 'ready' } | { readonly kind: 'none' | 'older' | 'newer'; readonly version: number };

/** The rows of units. */
export interface LedgerRows {
  readonly targets: () => Promise<Target[]>;
  /** Returns a target with its number, which a new target gets. */
  readonly target: (target: Omit<Target, 'id'>) => Promise<Target>;
  /**
   * Writes changed rows if this grant still holds the unit and nothing was shipped since. Checking and writing are one step, so that
   * it is the fence. A shipment whose answer was lost may be repeated: it counts once.
   *
   * @param seq - the number of shipments of this unit before.
   * @param host - the owner of rows in tables where each host has its own.
   */
  readonly ship: (grant: Grant, seq: number, host: string, rows: ShippedRows) => Promise<Shipped>;
  /** Records that a unit was compared with the platform. Does nothing if this grant no longer holds the unit. */
  readonly noteCompared: (grant: Grant) => Promise<void>;
  /** Releases a unit. Does nothing if this grant no longer holds it. */
  readonly release: (grant: Grant) => Promise<void>;
  /** Reads the rows of a unit page by page, with those of `host` in tables where each host has its own. */
  readonly rows: (unit: number, host: string, answer?: Answer) => AsyncGenerator<RowPage>;
  /** Returns rows of a unit's other tables by host ('' for rows that count on all hosts), as JSON arrays. */
  readonly entriesByHost: (unit: number, hosts: readonly string[]) => Promise<ReadonlyMap<string, string>>;
  /** Returns the number of each unit's files in each state. */
  readonly countFiles: () => Promise<Map<number, Map<string, number>>>;
  /** Reads some files of a unit, and the rows of a host about its directories. */
  readonly sample: (unit: number, host: string) => Promise<RowPage>;
}

/** The hosts of a cluster, the leases of units, and commands between hosts. */
export interface ClusterMembership {
  /** Registers a process under a host name, in place of an earlier one. */
  readonly join: (news: HostNews) => Promise<void>;
  /** Removes a host that has ended. */
  readonly leave: (host: Pick<HostNews, 'name' | 'instance'>) => Promise<void>;
  /** Proves that a host and its leases are alive, and reads the cluster. */
  readonly beat: (news: HostNews, held: readonly Proof[]) => Promise<ClusterView>;
  /** Reads the cluster without a beat. */
  readonly look: () => Promise<ClusterView>;
  /** Adds a unit to the ledger, or updates its sources. */
  readonly declare: (unit: Pick<UnitRow, 'target' | 'name' | 'sources'>) => Promise<UnitRow>;
  /**
   * Takes a unit whose epoch and beat are still as seen. `null`: another host was quicker, or its holder is alive.
   *
   * @param highest - the highest numbers ever seen of the unit: a database with lower ones went back in time. It must not give out an
   *   epoch twice, and its records are in doubt.
   */
  readonly claim: (
    seen: UnitRow,
    highest: SeenOfUnit,
    by: Pick<HostNews, 'name' | 'instance'>,
  ) => Promise<Grant | null>;
  /** Adds a command for the holder of a unit. */
  readonly addCommand: (unit: number, kind: string, body: unknown) => Promise<void>;
  /** Removes a command. `false`: another host has removed it before. */
  readonly takeCommand: (id: number) => Promise<boolean>;
}

/** The conversations of a cluster: notifications of all units go to the same one. An unreachable database is a transient failure. */
export interface SharedConversations {
  /** Returns the id of the recorded conversation; `null`: none. */
  readonly find: (purpose: string) => Promise<Outcome<string | null, LookupFailure>>;
  /** Records a new conversation. Returns the id of the one that counts: another host may have been quicker. */
  readonly save: (purpose: string, id: string) => Promise<Outcome<string, LookupFailure>>;
  /** Records that a message arrived, or that the conversation is missing: then it is forgotten if a message ever arrived there. */
  readonly learn: (purpose: string, id: string, what: 'arrived' | 'missing') => Promise<void>;
  /** Runs one task after the other. */
  readonly inTurn: <T>(task: () => Promise<T>) => Promise<T>;
}

/** The configuration of each source in the ledger, and the last one of each host. Both outlive the hosts. */
export interface LedgerSettings {
  /**
   * Offers a host's configuration of sources, JSON by name. The first configuration of a source is kept; a host that offered a
   * different one before replaces it. Returns the configuration in the ledger.
   */
  readonly bring: (
    host: string,
    settings: ReadonlyMap<string, string>,
  ) => Promise<ReadonlyMap<string, string>>;
}

/** The tables of the ledger. */
export interface LedgerSchema {
  /** The version of the tables that this botsync works with. */
  readonly version: number;
  /** @param stateVersion - the version of rows that this botsync writes. */
  readonly standing: (stateVersion: number) => Promise<LedgerStanding>;
  /** Returns whether all tables exist: somebody may have dropped one. */
  readonly isComplete: () => Promise<boolean>;
  /** Creates the tables that are missing. */
  readonly create: (stateVersion: number) => Promise<void>;
  /** The statement by which the database's owner makes room for the tables, for messages. */
  readonly making: string;
  /** Sets the tables aside under another name. */
  readonly rename: (name: string) => Promise<void>;
  /** Returns the statement that `rename` runs, for messages. */
  readonly renaming: (name: string) => string;
  /** Returns the rights that this connection's role lacks to work with the ledger, such as `INSERT on file`. */
  readonly lackingRights: () => Promise<string[]>;
  /** Returns the statements that grant a role the rights of hosts, and no others; `null`: with `rolePlaceholder` in its place. */
  readonly grants: (role: string | null) => string[];
  readonly rolePlaceholder: string;
}

/** Waits before a failed connection is replaced. */
export type Pause = (signal: AbortSignal) => Promise<void>;

/** Messages between the hosts of a cluster. Hosts that are not listening at that moment miss them: they only save time. */
export interface ClusterMessages {
  /** Makes all hosts send a heartbeat at once; otherwise they learn of a change with their next one. */
  readonly wake: (host: string) => Promise<void>;
  /** Listens for `wake` until the signal aborts. */
  readonly onWake: (told: (host: string) => void, pause: Pause, until: AbortSignal) => Promise<void>;
  /** Sends hints, see `encodeHint`. */
  readonly sendHints: (messages: readonly string[]) => Promise<void>;
  /** Listens for hints, of all clusters in the database, until the signal aborts. */
  readonly onHints: (told: (message: string) => void, pause: Pause, until: AbortSignal) => Promise<void>;
}

/** A fact about a database, for `botsync doctor`. */
export interface DatabaseFinding {
  readonly kind: 'fine' | 'doubtful' | 'broken';
  readonly message: string;
  readonly fix: string | null;
}

export interface DatabaseFacts {
  /** Name and version, such as `PostgreSQL 17.10`. */
  readonly name: string;
  /** Advice if the version is too old; `null`: it is not. */
  readonly outdated: string | null;
  /** Reports on taking writes, and on keeping them. */
  readonly findings: readonly DatabaseFinding[];
}

/** The database itself. */
export interface LedgerDatabase {
  readonly facts: () => Promise<DatabaseFacts>;
  /** Returns the time by the database's clock, epoch milliseconds. */
  readonly nowMs: () => Promise<number>;
}

/**
 * The records that several hosts share: everything that a cluster needs from its database. `openSharedLedger` chooses the
 * implementation. Methods throw `DatabaseError`.
 */
export interface SharedLedger {
  readonly ledger: LedgerRows;
  readonly membership: ClusterMembership;
  readonly conversations: SharedConversations;
  readonly sourceSettings: LedgerSettings;
  readonly tables: LedgerSchema;
  readonly messages: ClusterMessages;
  readonly database: LedgerDatabase;
  /** The connection is encrypted and the server's certificate checked; otherwise the database is on this machine. */
  readonly isEncrypted: boolean;
  readonly close: () => Promise<void>;
}

export interface SharedLedgerOptions {
  /** This host's name in the database's lists of connections. */
  readonly applicationName: string;
  readonly schema: string;
  /** Time after which a statement without an answer fails, milliseconds. */
  readonly patienceMs: number;
}

/** A problem is a sentence that does not contain the address. */
export type OpenedLedger =
  | { readonly kind: 'ok'; readonly ledger: SharedLedger }
  | { readonly kind: 'problem'; readonly message: string };
