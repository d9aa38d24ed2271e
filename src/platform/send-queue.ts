import { readFile } from 'node:fs/promises';
import type { Socket } from 'node:net';

/** What the kernel says of a connection. */
export interface SendQueue {
  /** Bytes that the other side has not acknowledged. */
  readonly unacknowledgedBytes: number;
  /** Whether the other side is there and asked to wait: it has no room for more at the moment. */
  readonly isAskedToWait: boolean;
}

/** The send queues of the connections of this network namespace, by `nameOf`. */
export type SendQueues = ReadonlyMap<string, SendQueue>;

const TABLES = ['/proc/self/net/tcp', '/proc/self/net/tcp6'];

/** The timer of a connection whose other side has closed its window: the kernel asks now and then whether it has opened. */
const WINDOW_PROBE_TIMER = '04';

/** So many unanswered questions make the other side one that is not there. */
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

/** What a connection is called among the send queues. */
export function nameOf({ localPort = 0, remotePort = 0 }: Socket): string {
  return `${localPort}>${remotePort}`;
}

function portIn(address: string): number {
  return Number.parseInt(address.slice(address.lastIndexOf(':') + 1), 16);
}
