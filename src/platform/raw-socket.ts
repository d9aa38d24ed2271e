import type { Socket } from 'node:net';

/**
 * Ends a connection such that nothing of what was written arrives any more. `destroy` would leave what is in the kernel to
 * be sent, for seconds after a line came back, and the content of an upload that was given up would land after a newer one.
 */
export function reset(socket: Socket): void {
  const raw = rawOf(socket);
  if (typeof handleOf(raw)?.reset !== 'function') {
    raw.destroy();
    return;
  }
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
  const size = handleOf(socket)?.writeQueueSize;
  return typeof size === 'number' ? size : null;
}

function handleOf(socket: Socket): { readonly reset?: unknown; readonly writeQueueSize?: unknown } | null {
  return (socket as unknown as { _handle?: object | null })._handle ?? null;
}

/** The TCP connection at the bottom: encryption and the tunnel of a proxy each have one above it. */
function rawOf(socket: Socket): Socket {
  const { _parent: below } = socket as unknown as { _parent?: Socket | null };
  return below === undefined || below === null ? socket : rawOf(below);
}
