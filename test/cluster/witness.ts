import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { onTestFinished } from 'vitest';
import type { BlackHole } from './black-hole.ts';
import type { Hosts } from './hosts.ts';
import type { PostgresServer } from './postgres.ts';

/** A unit's row after something changed it: a claim, a beat, a shipment or a release. */
export interface UnitEvent {
  readonly kind: 'unit';
  /** Epoch milliseconds, shortly before it was committed. */
  readonly at: number;
  readonly epoch: number;
  readonly seq: number;
  /** `null`: it is free. */
  readonly holder: string | null;
  readonly host: string | null;
}

/** A file's row after it was written, or dropped. */
export interface FileEvent {
  readonly kind: 'file';
  readonly at: number;
  readonly key: string;
  readonly epoch: number;
  /** `null`: it was dropped. */
  readonly state: string | null;
}

/** A request that arrived at the platform or its store. */
export interface Arrival {
  /** Epoch milliseconds of its first line. */
  readonly at: number;
  /** Of the last byte of its body; `null`: it has not come. */
  endAt: number | null;
  /** For how long this process was too busy to see anything, in the second before each of both, milliseconds. */
  blindMs: number;
  endBlindMs: number;
  readonly host: string;
  readonly operation: 'upsert' | 'upload' | 'delete';
  /** The file and the length of its content, of an upsert that came whole. */
  key: string | null;
  sizeBytes: number | null;
  /** It was checked, and is kept for what may come after it. */
  isSettled: boolean;
}

/** What was seen of a cluster from outside: by the database, and by the platform. All in the order in which it came. */
export interface Testimony {
  readonly units: readonly UnitEvent[];
  readonly files: readonly FileEvent[];
  readonly arrivals: readonly Arrival[];
}

const MARK = 'WITNESS';

/** How often this process looks whether it sees anything, milliseconds. */
const TICK_MS = 20;

/** Follows what a cluster with one unit writes to its ledger and sends to the platform. */
export class Witness {
  readonly #file: string;
  readonly #database: string;
  readonly #port: string;
  /** Told of each request as soon as its first line has come. */
  arrived: (arrival: Arrival) => void = () => undefined;
  readonly #hostOf = new Map<number, string>();
  #arrivals: Arrival[] = [];
  #read: number;
  #tickedMs = performance.now();
  #blind: { readonly untilMs: number; readonly blindMs: number }[] = [];
  #units: UnitEvent[] = [];
  #files: FileEvent[] = [];

  private constructor(server: PostgresServer, hosts: Hosts) {
    this.#file = server.logFile;
    this.#database = hosts.database;
    this.#port = new URL(hosts.emulator.baseUrl).port;
    this.#read = lengthOf(this.#file);
    subscribe('http.server.request.start', this.#onRequest);
    const ticking = setInterval(() => {
      this.#tick();
    }, TICK_MS);
    onTestFinished(() => {
      clearInterval(ticking);
      unsubscribe('http.server.request.start', this.#onRequest);
    });
  }

  /** Begins to follow. What the database did stands in its log, which outlives a failover. */
  static async begin(server: PostgresServer, hosts: Hosts): Promise<Witness> {
    const witness = new Witness(server, hosts);
    const say = (pairs: string): string =>
      `RAISE LOG '${MARK} %', json_build_object('in', current_database(), 'at', extract(epoch FROM clock_timestamp()) * 1000, ${pairs})`;
    await hosts.sql(`
      CREATE FUNCTION botsync.see_unit() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        ${say("'kind', 'unit', 'epoch', NEW.epoch, 'seq', NEW.seq, 'holder', NEW.holder, 'host', NEW.holder_host")};
        RETURN NULL; END $$;
      CREATE FUNCTION botsync.see_file() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF TG_OP = 'DELETE' THEN
          ${say("'kind', 'file', 'key', OLD.body ->> 'key', 'epoch', OLD.epoch, 'state', NULL")};
        ELSE
          ${say("'kind', 'file', 'key', NEW.body ->> 'key', 'epoch', NEW.epoch, 'state', NEW.state")};
        END IF;
        RETURN NULL; END $$;
      CREATE TRIGGER seen AFTER UPDATE ON botsync.unit FOR EACH ROW EXECUTE FUNCTION botsync.see_unit();
      CREATE TRIGGER seen AFTER INSERT OR UPDATE OR DELETE ON botsync.file FOR EACH ROW EXECUTE FUNCTION botsync.see_file();`);
    return witness;
  }

  /** What comes by this way is a host's. Its requests name the whole address, as those to a proxy do. */
  know(host: string, way: BlackHole): void {
    way.reached = (localPort) => this.#hostOf.set(localPort, host);
  }

  /** Everything since the beginning. */
  testimony(): Testimony {
    this.#readLog();
    return { units: this.#units, files: this.#files, arrivals: this.#arrivals };
  }

  /**
   * The database was killed: nobody heard whether it took the last shipment. If it is older when it comes back, what that one said
   * to be in sync is an open intent.
   */
  doubtLastShipment(): void {
    this.#readLog();
    const last = this.#units.findLastIndex((unit, at) => unit.seq !== this.#units[at - 1]?.seq);
    const fromMs = this.#units[last]?.at ?? Infinity;
    this.#files = this.#files.filter(({ state, at }) => state !== 'synced' || at < fromMs);
  }

  /** Forgets what is settled: all but how everything stands, and the last upsert of each file. */
  forget(): void {
    this.#units = this.#units.slice(-1);
    this.#files = lastOf(this.#files);
    this.#arrivals = lastOf(this.#arrivals.filter(({ key }) => key !== null));
    for (const arrival of this.#arrivals) arrival.isSettled = true;
  }

  /** Notes for how long nothing could be seen. */
  #tick(): void {
    const nowMs = performance.now();
    const blindMs = nowMs - this.#tickedMs - TICK_MS;
    this.#tickedMs = nowMs;
    this.#blind = this.#blind.filter(({ untilMs }) => untilMs > nowMs - 1000);
    if (blindMs > TICK_MS) this.#blind.push({ untilMs: nowMs, blindMs });
  }

  #blindMs(): number {
    this.#tick();
    return this.#blind.reduce((sum, { blindMs }) => sum + blindMs, 0);
  }

  #readLog(): void {
    const descriptor = openSync(this.#file, 'r');
    try {
      const { size } = fstatSync(descriptor);
      const bytes = Buffer.alloc(size - this.#read);
      readSync(descriptor, bytes, 0, bytes.length, this.#read);
      // A line is written as a whole; the last may be about to be.
      const end = bytes.lastIndexOf(0x0a) + 1;
      this.#read += end;
      for (const line of bytes.subarray(0, end).toString('utf8').split('\n')) this.#note(line);
    } finally {
      closeSync(descriptor);
    }
  }

  #note(line: string): void {
    const start = line.indexOf(`${MARK} {`);
    if (start < 0) return;
    const { in: database, ...event } = JSON.parse(line.slice(start + MARK.length)) as { in: string } & (
      UnitEvent | FileEvent
    );
    if (database !== this.#database) return;
    if (event.kind === 'unit') this.#units.push(event);
    else this.#files.push(event);
  }

  readonly #onRequest = (message: unknown): void => {
    const { request } = message as { request: IncomingMessage };
    if (String(request.socket.localPort) !== this.#port) return;
    if (request.url?.startsWith('http://') === true) {
      const { pathname, search } = new URL(request.url);
      request.url = pathname + search;
    }
    const operation = operationOf(request);
    if (operation === null) return;
    const host = this.#hostOf.get(request.socket.remotePort ?? 0) ?? 'unknown';
    const arrival: Arrival = {
      at: Date.now(),
      endAt: null,
      blindMs: this.#blindMs(),
      endBlindMs: 0,
      host,
      operation,
      key: null,
      sizeBytes: null,
      isSettled: false,
    };
    this.#arrivals.push(arrival);
    this.arrived(arrival);
    const chunks: Buffer[] = [];
    const push = request.push.bind(request);
    request.push = (chunk: Buffer | null, encoding) => {
      if (chunk === null) {
        arrival.endBlindMs = this.#blindMs();
        end(arrival, chunks);
      } else if (operation === 'upsert') chunks.push(chunk);
      return push(chunk, encoding);
    };
  };
}

function operationOf({ method, url = '' }: IncomingMessage): Arrival['operation'] | null {
  if (method === 'PUT' && url.startsWith('/upload/')) return 'upload';
  if (method === 'PUT' && url === '/v1/files') return 'upsert';
  return method === 'DELETE' && url.startsWith('/v1/files/') ? 'delete' : null;
}

/** The body of a request is over; one that was cut off is no JSON. */
function end(arrival: Arrival, chunks: readonly Buffer[]): void {
  arrival.endAt = Date.now();
  if (arrival.operation !== 'upsert') return;
  try {
    const { key, size } = JSON.parse(Buffer.concat(chunks).toString('utf8')) as { key: string; size: number };
    Object.assign(arrival, { key, sizeBytes: size });
  } catch {
    arrival.endAt = null;
  }
}

function lengthOf(file: string): number {
  const descriptor = openSync(file, 'r');
  try {
    return fstatSync(descriptor).size;
  } finally {
    closeSync(descriptor);
  }
}

/** Of each key the last, in their order. */
function lastOf<E extends { readonly key: string | null }>(events: readonly E[]): E[] {
  const last = new Map(events.map((event) => [event.key, event]));
  return events.filter((event) => last.get(event.key) === event);
}
