import type { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { Throughput } from '../../src/domain/throughput.ts';
import { nameOf } from '../../src/platform/tcp-socket.ts';
import { RequestWatch } from '../../src/platform/stall-monitor.ts';

const BODY_BYTES = 200_000;
const STALL_TIMEOUT_MS = 30_000;
const CHECK_EVERY_MS = 3750;

test.each([false, true])(
  'a slow line whose bytes move is not dead, also when the kernel was not asked at first (%s)',
  (isFirstBlind) => {
    // What a connection shows of itself: the kernel took everything at once, and gets rid of 5 kB a second.
    const socket = {
      bytesWritten: 0,
      writableLength: 0,
      localPort: 1,
      remotePort: 2,
    } as unknown as Socket & { bytesWritten: number };
    const stalls: string[] = [];
    const watch = new RequestWatch(
      { sizeBytes: BODY_BYTES, throughput: new Throughput() },
      { giveUp: (stall) => stalls.push(stall) },
    );
    watch.begin(socket, 0);
    socket.bytesWritten = BODY_BYTES;
    for (let nowMs = 1000; nowMs <= 40_000; nowMs += CHECK_EVERY_MS) {
      const unacknowledgedBytes = Math.max(0, BODY_BYTES - 5 * nowMs);
      const queues = new Map([[nameOf(socket), { unacknowledgedBytes, isAskedToWait: false }]]);
      watch.check(isFirstBlind && nowMs === 1000 ? null : queues, BODY_BYTES, STALL_TIMEOUT_MS, nowMs);
    }
    expect(stalls).toEqual([]);
  },
);
