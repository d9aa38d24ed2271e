import { randomUUID } from 'node:crypto';

export type AnswerHeaders = Readonly<Record<string, string>>;

/** The answer of an operation; the server adds Date, Content-Length and the RateLimit headers. */
export type OperationResult =
  | {
      readonly kind: 'json';
      readonly status: number;
      readonly body: unknown;
      readonly headers: AnswerHeaders;
    }
  | { readonly kind: 'text'; readonly status: number; readonly body: string; readonly headers: AnswerHeaders }
  | { readonly kind: 'content'; readonly path: string; readonly headers: AnswerHeaders }
  /** Server-sent events of the page. */
  | { readonly kind: 'events'; readonly headers: AnswerHeaders };

/** Ends a request with an answer. */
export class Refusal extends Error {
  readonly answer: OperationResult;

  constructor(answer: OperationResult) {
    super('refused');
    this.answer = answer;
  }
}

/** 200 with a JSON body. */
export function succeed(body: unknown): OperationResult {
  return { kind: 'json', status: 200, body, headers: {} };
}

/** 201 with a JSON body. Source: platform-facts.md, Success codes. */
export function created(body: unknown): OperationResult {
  return { kind: 'json', status: 201, body, headers: {} };
}

/** An error of the API. Source: platform-facts.md, Errors. */
export function errorAnswer(
  status: number,
  type: string,
  message: string,
  headers: AnswerHeaders = {},
): OperationResult {
  return { kind: 'json', status, body: { id: `err_${randomId()}`, code: status, type, message }, headers };
}

/** Refuses a request as the API does. */
export function refuse(status: number, type: string, message: string): never {
  throw new Refusal(errorAnswer(status, type, message));
}

/** An error of the object store: XML, as S3 answers it. */
export function storeError(status: number, code: string, message: string): OperationResult {
  const body =
    '<?xml version="1.0" encoding="UTF-8"?>\n' +
    `<Error><Code>${code}</Code><Message>${escapeXml(message)}</Message><RequestId>${randomId()}</RequestId></Error>`;
  return { kind: 'text', status, body, headers: { 'Content-Type': 'application/xml' } };
}

/** Refuses a request as the object store does. */
export function refuseAtStore(status: number, code: string, message: string): never {
  throw new Refusal(storeError(status, code, message));
}

/** The usual `type` of a status. Source: platform-facts.md, Errors. */
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

/**
 * The surfaces of the platform. `api`: bearer token, rate limit, JSON errors. `admin`: the same, and the workspace
 * id. `chat`: the webhook id in the path, rate limit, JSON errors. `store`: the signed address is the permission,
 * XML errors. `page`: for people. Source: interface.md, Authentication; platform-facts.md, The upload.
 */
export type Surface = 'api' | 'admin' | 'chat' | 'store' | 'page';
