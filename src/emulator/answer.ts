import { randomUUID } from 'node:crypto';

/** Header names and values of an answer. */
export type AnswerHeaders = Readonly<Record<string, string>>;

/** What an operation answers; the server adds Date, Content-Length and the RateLimit headers. */
export type OperationResult =
  | {
      readonly kind: 'json';
      readonly status: number;
      readonly body: unknown;
      readonly headers: AnswerHeaders;
    }
  | { readonly kind: 'text'; readonly status: number; readonly body: string; readonly headers: AnswerHeaders }
  | { readonly kind: 'content'; readonly path: string; readonly headers: AnswerHeaders }
  /** Server-sent events for as long as the client listens. */
  | { readonly kind: 'events'; readonly follow: FollowEvents; readonly headers: AnswerHeaders };

/**
 * Begins to send events, and returns what ends it. `send`: data of one line; `isReady`: whether the client has taken
 * what was sent so far.
 */
export type FollowEvents = (
  send: (event: string, data: string) => void,
  isReady: () => boolean,
) => () => void;

/** 200 with a JSON body. */
export function succeed(body: unknown): OperationResult {
  return { kind: 'json', status: 200, body, headers: {} };
}

/** 201 with a JSON body: a conversation, a message, a user came to be. Source: platform-facts.md, Success codes. */
export function created(body: unknown): OperationResult {
  return { kind: 'json', status: 201, body, headers: {} };
}

/** An error of the API. Source: platform-facts.md, Errors. */
export function refuse(
  status: number,
  type: string,
  message: string,
  headers: AnswerHeaders = {},
): OperationResult {
  return { kind: 'json', status, body: { id: `err_${randomId()}`, code: status, type, message }, headers };
}

/** The answer that ends a request before it does anything. */
export interface Refused {
  readonly kind: 'refused';
  readonly answer: OperationResult;
}

/** Wraps a refusal. */
export function refused(status: number, type: string, message: string): Refused {
  return { kind: 'refused', answer: refuse(status, type, message) };
}

/** An error of the object store: XML, as an S3-like store answers it. */
export function refuseAtStore(status: number, code: string, message: string): OperationResult {
  const body =
    '<?xml version="1.0" encoding="UTF-8"?>\n' +
    `<Error><Code>${code}</Code><Message>${escapeXml(message)}</Message><RequestId>${randomId()}</RequestId></Error>`;
  return { kind: 'text', status, body, headers: { 'Content-Type': 'application/xml' } };
}

/** The `type` that usually goes with a status. Source: platform-facts.md, Errors. */
export function usualErrorType(status: number): string {
  return USUAL_TYPES.get(status) ?? 'Unknown';
}

/** 32 hexadecimal digits. */
export function randomId(): string {
  return randomUUID().replaceAll('-', '');
}

const USUAL_TYPES = new Map([
  [400, 'InvalidPayload'],
  [401, 'Unauthorized'],
  [402, 'PaymentRequired'],
  [403, 'Forbidden'],
  [404, 'ResourceNotFound'],
  [405, 'MethodNotFound'],
  [409, 'ResourceLockedConflict'],
  [410, 'ResourceGone'],
  [413, 'PayloadTooLarge'],
  [415, 'UnsupportedMediaType'],
  [429, 'RateLimited'],
  [500, 'Internal'],
  [504, 'OperationTimeout'],
]);

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
