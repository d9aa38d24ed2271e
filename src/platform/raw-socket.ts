import type { Socket } from 'node:net';

/** The TCP connection below each TLS connection that we made. */
const below = new WeakMap<Socket, Socket>();

/** Remembers which TCP connection a TLS connection goes over. */
export function noteTls(secured: Socket, raw: Socket): void {
  below.set(secured, raw);
}

/**
 * Ends a connection such that nothing of what was written arrives any more. `destroy` would leave what is in the kernel to
 * be sent, for seconds after a line came back, and the content of an upload that was given up would land after a newer one.
 */
export function reset(socket: Socket): void {
  const raw = rawOf(socket);
  // What `resetAndDestroy` sets, which first ends the stream in order and so sends what was written.
  (raw as Socket & { resetAndClosing?: boolean }).resetAndClosing = true;
  raw.destroy();
}

/** Bytes that were written to a connection and that the kernel has not taken. */
export function pendingBytes(socket: Socket): number {
  const own = queueOf(socket);
  const raw = rawOf(socket);
  if (own === null) return socket.writableLength;
  return raw === socket ? own : own + (queueOf(raw) ?? 0);
}

/** What the event loop still has to hand to the kernel: Node shows it on the handle alone. */
function queueOf(socket: Socket): number | null {
  const { _handle: handle } = socket as unknown as { _handle?: { writeQueueSize?: unknown } | null };
  return typeof handle?.writeQueueSize === 'number' ? handle.writeQueueSize : null;
}

function rawOf(socket: Socket): Socket {
  return below.get(socket) ?? socket;
}
