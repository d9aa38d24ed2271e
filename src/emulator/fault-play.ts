import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  errorAnswer,
  storeError,
  succeed,
  usualErrorType,
  type OperationResult,
  type Surface,
} from './answer.ts';
import type { FaultAction } from './faults.ts';
import { untilClosed, waitWhileOpen, type AnswerPacing } from './reply.ts';

/** The time for a client to read an early answer before its connection ends. */
const EARLY_ANSWER_GRACE_MS = 2000;

/** Longer than the lifetime of any upload address. */
const LONG_AGO_MS = 30 * 86_400_000;

/** A request that a fault strikes. */
export interface Exchange {
  readonly message: IncomingMessage;
  readonly response: ServerResponse;
  readonly surface: Surface;
  /** Resolves when the faults are cleared. */
  readonly released: Promise<void>;
  carryOut(): Promise<OperationResult>;
  /** Sends at once without `delivery`. */
  send(answer: OperationResult, delivery?: AnswerPacing): Promise<void>;
  /** Returns the uploadUrl as it would be if it had been issued `byMs` earlier. */
  backdate(uploadUrl: string, byMs: number): string;
}

/** Plays one fault on one request; resolves when the request is finished. */
export async function playFault(action: FaultAction, exchange: Exchange): Promise<void> {
  const { message, response, released } = exchange;
  switch (action.kind) {
    case 'status':
      return exchange.send(statusAnswer(action, exchange.surface));
    case 'delay':
      await waitWhileOpen(response, action.delayMs);
      return carryOn(exchange);
    case 'hang':
      await Promise.race([released, untilClosed(response)]);
      return carryOn(exchange);
    case 'hang-mid-body':
      return exchange.send(await exchange.carryOut(), { kind: 'in-halves', until: released });
    case 'cut-answer':
      return exchange.send(await exchange.carryOut(), { kind: 'cut', afterBytes: action.afterBytes });
    case 'trickle':
      return exchange.send(await exchange.carryOut(), {
        kind: 'in-pieces',
        pieces: action.pieces,
        everyMs: action.everyMs,
      });
    case 'cut':
      cutAfter(message, action.afterBytes);
      return untilClosed(response);
    case 'garbage':
      return exchange.send(
        textAnswer(200, '<html><body>Welcome to the hotel network</body></html>', 'text/html'),
      );
    case 'drop':
      message.socket.destroy();
      return;
    case 'answer-then-drop':
      response.setHeader('Connection', 'close');
      await exchange.send(
        exchange.surface === 'store'
          ? { ...textAnswer(200, '', 'text/plain'), headers: { ETag: '"early"' } }
          : succeed({}),
      );
      // An immediate reset could overtake the answer.
      await waitWhileOpen(response, EARLY_ANSWER_GRACE_MS);
      message.socket.destroy();
      return;
    case 'apply-then-drop':
      await exchange.carryOut();
      message.socket.destroy();
      return;
    case 'body':
      return exchange.send(succeed(action.body));
    case 'missing-upload-url':
      return exchange.send(withUploadUrl(await exchange.carryOut(), () => undefined));
    case 'upload-url-at':
      return exchange.send(
        withUploadUrl(await exchange.carryOut(), (address) => {
          const { pathname, search } = new URL(address);
          return `${action.origin}${pathname}${search}`;
        }),
      );
    case 'expired-upload-url':
      return exchange.send(
        withUploadUrl(await exchange.carryOut(), (address) => exchange.backdate(address, LONG_AGO_MS)),
      );
    case 'headers': {
      const answer = await exchange.carryOut();
      return exchange.send({ ...answer, headers: { ...answer.headers, ...action.headers } });
    }
    case 'redirect':
      return exchange.send({
        kind: 'text',
        status: action.status ?? 307,
        body: '',
        headers: { Location: action.location },
      });
  }
}

async function carryOn(exchange: Exchange): Promise<void> {
  if (exchange.message.socket.destroyed) return;
  return exchange.send(await exchange.carryOut());
}

function cutAfter(message: IncomingMessage, bytes: number): void {
  let received = 0;
  const cut = (): void => {
    message.socket.destroy();
  };
  message.on('error', () => undefined);
  if (bytes === 0 || message.readableEnded) {
    cut();
    return;
  }
  message.on('end', cut);
  message.on('data', (chunk: Buffer) => {
    received += chunk.length;
    if (received >= bytes) cut();
  });
}

function statusAnswer(action: Extract<FaultAction, { kind: 'status' }>, surface: Surface): OperationResult {
  const { status, headers = {}, message = 'A scripted fault of the emulator' } = action;
  if (typeof action.body === 'string') return textAnswer(status, action.body, 'text/plain', headers);
  if (action.body !== undefined) return { kind: 'json', status, body: action.body, headers };
  const type = action.type ?? usualErrorType(status);
  const answer = surface === 'store' ? storeError(status, type, message) : errorAnswer(status, type, message);
  return { ...answer, headers: { ...answer.headers, ...headers } };
}

function textAnswer(
  status: number,
  body: string,
  contentType: string,
  headers: Readonly<Record<string, string>> = {},
): OperationResult {
  return { kind: 'text', status, body, headers: { 'Content-Type': contentType, ...headers } };
}

function withUploadUrl(
  answer: OperationResult,
  change: (address: string) => string | undefined,
): OperationResult {
  if (answer.kind !== 'json') return answer;
  const body = structuredClone(answer.body) as { file?: { uploadUrl?: string | undefined } };
  const address = body.file?.uploadUrl;
  if (body.file !== undefined && address !== undefined) body.file.uploadUrl = change(address);
  return { ...answer, body };
}
