import type { IncomingMessage } from 'node:http';

/** A request body read into memory, or why it was not. */
export type BytesRead =
  | { readonly kind: 'complete'; readonly bytes: Buffer }
  | { readonly kind: 'too-large' }
  | { readonly kind: 'cut' };

/**
 * Reads a request body of at most `limitBytes`. A larger one is given up at the limit (the server discards the rest);
 * a connection that ends before the last byte gives `cut`. Never rejects.
 */
export function readBytes(message: IncomingMessage, limitBytes: number): Promise<BytesRead> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let received = 0;
    const settle = (result: BytesRead): void => {
      message.off('data', onData).off('end', onEnd).off('close', onClose);
      resolve(result);
    };
    const onData = (chunk: Buffer): void => {
      received += chunk.length;
      chunks.push(chunk);
      if (received > limitBytes) settle({ kind: 'too-large' });
    };
    const onEnd = (): void => {
      settle({
        kind: 'complete',
        bytes: chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks),
      });
    };
    const onClose = (): void => {
      settle({ kind: 'cut' });
    };
    if (message.destroyed) {
      resolve({ kind: 'cut' });
      return;
    }
    // An aborted request emits an error besides close; without a listener it would end the process.
    message.on('error', () => undefined);
    message.on('data', onData).on('end', onEnd).on('close', onClose);
  });
}
