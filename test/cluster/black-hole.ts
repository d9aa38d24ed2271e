import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { findFreePort } from './free-port.ts';

/** What the way to a server has done so far. */
export interface TrafficCounts {
  /** Connections that were accepted, by a black hole as well. */
  readonly accepted: number;
  /** Bytes that were handed on, both ways. */
  readonly passedBytes: number;
  /** Bytes that were taken and will never arrive, both ways. */
  readonly swallowedBytes: number;
}

/** A connection of a client and the one to the server, which a black hole does not make. */
interface Pair {
  readonly near: Socket;
  readonly far: Socket | null;
  /** Something of it was swallowed, a farewell perhaps: what comes after would make no sense. */
  isTorn: boolean;
  /** What came from the client and is to go on later: the bytes, and the end of them. */
  readonly held: (Buffer | 'end')[];
}

/** A way to a server, on 127.0.0.1, that tests can cut as a network is cut. */
export class BlackHole {
  readonly port: number;
  /** Told the port by which the server knows each connection that is made to it. */
  reached: (localPort: number) => void = () => undefined;
  readonly #target: { readonly host: string; readonly port: number };
  readonly #pairs = new Set<Pair>();
  readonly #counts = { accepted: 0, passedBytes: 0, swallowedBytes: 0 };
  #mode: 'pass' | 'hold' | 'swallow' = 'pass';
  /** While nothing is kept yet: what has to come before anything is. */
  #firstHeld = '';
  #server: Server | null = null;

  constructor(port: number, target: { readonly host: string; readonly port: number }) {
    this.port = port;
    this.#target = target;
  }

  /** An address with its host and port replaced by those of this way; the rest of the URL stays. */
  lead(url: string): string {
    const led = new URL(url);
    led.hostname = '127.0.0.1';
    led.port = String(this.port);
    return led.href;
  }

  /** Since the beginning. */
  get counts(): TrafficCounts {
    return { ...this.#counts };
  }

  /** Connections that are open now. */
  get openConnections(): number {
    return this.#pairs.size;
  }

  /**
   * Hands everything on, and accepts connections again. Connections of which something was swallowed stay as they are: open and
   * silent, as when a firewall has forgotten them. `heal` ends these as well.
   */
  async pass(): Promise<void> {
    this.#mode = 'pass';
    for (const pair of this.#pairs) letGo(pair);
    await this.#listen();
  }

  /**
   * Swallows every byte and every end of a connection, both ways, and accepts connections that lead nowhere. Nothing is
   * closed or reset: neither side learns of it. What the kernel was given before still arrives.
   */
  async blackHole(): Promise<void> {
    this.#mode = 'swallow';
    await this.#listen();
  }

  /**
   * Keeps what clients send, and that they have ended, until it passes again: as a network does that is slow. A client that
   * resets a connection takes back what was kept of it.
   * @param first Passes everything until a client sends this, which is the first that is kept.
   */
  async hold(first = ''): Promise<void> {
    this.#firstHeld = first;
    this.#mode = 'hold';
    await this.#listen();
  }

  /** Bytes of clients that are kept now. */
  get heldBytes(): number {
    return [...this.#pairs]
      .flatMap(({ held }) => held)
      .reduce((sum, part) => sum + (part === 'end' ? 0 : part.length), 0);
  }

  /** What clients say that is kept now. */
  get heldText(): string {
    return [...this.#pairs]
      .flatMap(({ held }) => held)
      .map((part) => (part === 'end' ? '' : part.toString()))
      .join('');
  }

  /** Resets all connections and accepts no more: clients get ECONNREFUSED at once, as of a machine without the server. */
  async refuse(): Promise<void> {
    this.#mode = 'pass';
    await this.#stopListening();
  }

  /** Hands everything on, and resets the connections of which something was swallowed, so that both sides learn of it. */
  async heal(): Promise<void> {
    await this.pass();
    for (const pair of this.#pairs) if (pair.isTorn) reset(pair);
  }

  /** Ends all connections and leaves the port. */
  async close(): Promise<void> {
    await this.refuse();
  }

  async #listen(): Promise<void> {
    if (this.#server !== null) return;
    // The end of one direction is handed on, or swallowed, like its bytes.
    this.#server = createServer({ allowHalfOpen: true }, (near) => {
      this.#accept(near);
    });
    this.#server.listen(this.port, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  async #stopListening(): Promise<void> {
    const server = this.#server;
    if (server === null) return;
    this.#server = null;
    const listening = new Promise((resolve) => server.close(resolve));
    for (const pair of this.#pairs) reset(pair);
    await listening;
  }

  #accept(near: Socket): void {
    this.#counts.accepted += 1;
    const far = this.#mode !== 'swallow' ? connect({ ...this.#target, allowHalfOpen: true }) : null;
    far?.once('connect', () => {
      this.reached(far.localPort ?? 0);
    });
    const pair: Pair = { near, far, isTorn: far === null, held: [] };
    this.#pairs.add(pair);
    this.#hand(pair, near, far);
    if (far !== null) this.#hand(pair, far, near);
  }

  /** Hands on what comes from one side, as long as nothing of the connection was swallowed. */
  #hand(pair: Pair, from: Socket, to: Socket | null): void {
    from.setNoDelay(true);
    from.on('error', () => undefined);
    from.on('data', (chunk: Buffer) => {
      if (to === null || this.#isCut(pair)) {
        this.#counts.swallowedBytes += chunk.length;
        return;
      }
      if (from === pair.near && chunk.includes(this.#firstHeld)) this.#firstHeld = '';
      if (this.#isHeld(pair, from)) {
        pair.held.push(chunk);
        return;
      }
      this.#counts.passedBytes += chunk.length;
      if (to.write(chunk)) return;
      from.pause();
      to.once('drain', () => from.resume());
    });
    from.on('end', () => {
      if (to === null || this.#isCut(pair)) return;
      if (this.#isHeld(pair, from)) pair.held.push('end');
      else to.end();
    });
    from.once('close', () => {
      // Where nothing can be told, the other side goes on waiting.
      if (to === null || to.destroyed) this.#pairs.delete(pair);
      else if (!this.#isCut(pair)) to.resetAndDestroy();
    });
  }

  #isHeld(pair: Pair, from: Socket): boolean {
    return from === pair.near && ((this.#mode === 'hold' && this.#firstHeld === '') || pair.held.length > 0);
  }

  #isCut(pair: Pair): boolean {
    if (this.#mode === 'swallow') pair.isTorn = true;
    return pair.isTorn;
  }
}

/** Opens a way to a server, which passes everything until it is told otherwise. `close` it when the test is over. */
export async function startBlackHole(targetHost: string, targetPort: number): Promise<BlackHole> {
  const way = new BlackHole(await findFreePort(), { host: targetHost, port: targetPort });
  await way.pass();
  return way;
}

function letGo({ far, held }: Pair): void {
  for (const part of held.splice(0)) {
    if (part === 'end') far?.end();
    else far?.write(part);
  }
}

function reset({ near, far }: Pair): void {
  near.resetAndDestroy();
  far?.resetAndDestroy();
}
