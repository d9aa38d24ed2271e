import { readFile } from 'node:fs/promises';
import type { Socket } from 'node:net';

/** The kernel's data about a connection. */
export interface SendQueue {
  readonly unacknowledgedBytes: number;
  /** The other side responds, but has no room for more at the moment. */
  readonly isAskedToWait: boolean;
}

/** The send queues of all connections of this network namespace, by `nameOf`. */
export type SendQueues = ReadonlyMap<string, SendQueue>;

const TABLES = ['/proc/self/net/tcp', '/proc/self/net/tcp6'];

/**
 * The timer of a connection whose other side has closed its window: the kernel probes now and then whether it has
 * opened.
 */
const WINDOW_PROBE_TIMER = '04';

/** More unanswered window probes mean that the other side is gone. */
const MOST_UNANSWERED = 2;

/** Reads the send queues of all connections; empty where the system does not show them (other than Linux). */
export async function readSendQueues(): Promise<SendQueues> {
  const queues = new Map<string, SendQueue>();
  for (const table of TABLES) {
    const text = await readFile(table, 'latin1').catch(() => '');
    for (const line of text.split('\n').slice(1)) {
      const [, local = '', remote = '', , sizes = '', timer = '', , , unanswered = ''] = line
        .trim()
        .split(/\s+/u);
      if (sizes === '') continue;
      queues.set(`${portIn(local)}>${portIn(remote)}`, {
        unacknowledgedBytes: Number.parseInt(sizes, 16),
        isAskedToWait: timer.startsWith(WINDOW_PROBE_TIMER) && Number(unanswered) <= MOST_UNANSWERED,
      });
    }
  }
  return queues;
}

/** Returns the name of a connection in `SendQueues`. */
export function nameOf({ localPort = 0, remotePort = 0 }: Socket): string {
  return `${localPort}>${remotePort}`;
}

function portIn(address: string): number {
  return Number.parseInt(address.slice(address.lastIndexOf(':') + 1), 16);
}

/**
 * Ends a connection so that nothing more of what was written arrives. `destroy` would leave the kernel's buffer to be
 * sent, even seconds later when the line is back, and the content of an upload that was given up would overwrite a
 * newer one.
 */
export function reset(socket: Socket): void {
  const raw = rawOf(socket);
  if (typeof handleOf(raw)?.reset !== 'function') {
    raw.destroy();
    return;
  }
  // Set by `resetAndDestroy`, which cannot be used because it first ends the stream and so sends what was written.
  (raw as Socket & { resetAndClosing?: boolean }).resetAndClosing = true;
  raw.destroy();
}

/**
 * Returns the bytes that the kernel has accepted on a connection since it was made. Counted at the TCP socket, because
 * TLS above it keeps what it wrote until all of it was accepted.
 */
export function takenBytes(socket: Socket): number {
  const raw = rawOf(socket);
  const { bytesWritten = raw.bytesWritten, writeQueueSize = raw.writableLength } = handleOf(raw) ?? {};
  return bytesWritten - writeQueueSize;
}

/** Properties that only the handle of a socket has. */
interface Handle {
  readonly reset?: unknown;
  /** Bytes handed to the event loop. */
  readonly bytesWritten?: number;
  /** Bytes of these that the event loop has not yet handed to the kernel. */
  readonly writeQueueSize?: number;
}

function handleOf(socket: Socket): Handle | null {
  return (socket as unknown as { _handle?: Handle | null })._handle ?? null;
}

/** Returns the TCP socket below TLS and below the tunnel of a proxy. */
function rawOf(socket: Socket): Socket {
  const { _parent: below } = socket as unknown as { _parent?: Socket | null };
  return below === undefined || below === null ? socket : rawOf(below);
}
