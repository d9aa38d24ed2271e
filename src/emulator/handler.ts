import type { IncomingMessage, ServerResponse } from 'node:http';
import type { PageStreams } from '../service/page-streams.ts';
import { errorAnswer, Refusal, type OperationResult, type AnswerHeaders } from './answer.ts';
import { playFault } from './fault-play.ts';
import { checkAccess, findNamedFile } from './access.ts';
import { backdatedUploadUrl } from './file-resource.ts';
import type { Operation } from './operation.ts';
import type { Platform } from './platform.ts';
import { sendAnswer, type AnswerPacing } from './reply.ts';
import { EmulatorRequest } from './request.ts';
import type { RecordedRequest } from './request-log.ts';
import { createRouter } from './router.ts';

/** Answers requests that no route matches. Source: platform-operations.md, Unknown. */
function unknownOperation(status: 404 | 405): Operation {
  return {
    name: 'unknown',
    method: '*',
    pattern: '*',
    surface: 'api',
    answer: ({ message, path }) =>
      errorAnswer(status, 'MethodNotFound', `This emulator does not serve ${message.method ?? ''} ${path}`),
  };
}

const UNKNOWN = { nothing: unknownOperation(404), 'other-method': unknownOperation(405) };

/** Handles a request from its arrival to its answer. Never rejects. */
export type Handler = (message: IncomingMessage, response: ServerResponse) => Promise<void>;

/**
 * Creates the handler. In order: count and record, outage, rate limit, scripted fault, token, operation, answer.
 * The page is exempt from outages, limits and faults.
 */
export function createHandler(platform: Platform, pageStreams: PageStreams): Handler {
  const { log, faults, conditions } = platform;
  const route = createRouter(platform.settings.operations);

  async function handle(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const request = new EmulatorRequest(message);
    const found = route(request.method, request.path);
    const operation = found.kind === 'operation' ? found.operation : UNKNOWN[found.kind];
    request.params = found.kind === 'operation' ? found.params : {};
    if (operation.surface === 'page') {
      const answer = await carryOut(operation, request);
      await send(response, answer, {}, null);
      if (answer.kind === 'events') pageStreams.add(response, request.query, () => false);
      return;
    }
    log.count(operation.name);

    const key = (await operation.keyOf?.(request)) ?? findNamedFile(request, platform)?.key ?? null;
    const recorded = log.record(operation.name, request, key);

    const outage = conditions.outage(operation.surface);
    if (outage !== null) {
      await send(response, outage, {}, recorded);
      return;
    }
    const verdict = conditions.admit(operation.surface, platform.now());
    const rateHeaders = verdict?.headers ?? {};
    if (verdict !== null && !verdict.allowed) {
      const answer = errorAnswer(429, 'RateLimited', 'Too many requests', verdict.refusalHeaders);
      await send(response, answer, rateHeaders, recorded);
      return;
    }

    const released = faults.released;
    const action = faults.take(operation.name, key);
    if (action === null) {
      await send(response, await carryOut(operation, request), rateHeaders, recorded);
      return;
    }
    await playFault(action, {
      message,
      response,
      surface: operation.surface,
      released,
      carryOut: () => carryOut(operation, request),
      send: (answer, delivery) => send(response, answer, rateHeaders, recorded, delivery),
      backdate: (address, byMs) => backdatedUploadUrl(address, byMs, platform),
    });
  }

  async function carryOut(operation: Operation, request: EmulatorRequest): Promise<OperationResult> {
    try {
      if (operation.name !== 'unknown') checkAccess(operation.surface, request, platform);
      conditions.slow(operation.surface, request.message);
      return await operation.answer(request, platform);
    } catch (error) {
      if (error instanceof Refusal) return error.answer;
      throw error;
    }
  }

  async function send(
    response: ServerResponse,
    answer: OperationResult,
    rateHeaders: AnswerHeaders,
    recorded: RecordedRequest | null,
    delivery: AnswerPacing = { kind: 'at-once' },
  ): Promise<void> {
    // `response.socket` is null while an earlier answer is being sent on the same connection.
    if (response.req.socket.destroyed) return;
    if (recorded !== null) recorded.status = 'status' in answer ? answer.status : 200;
    const headers = { Date: formatHttpDate(platform.now()), ...rateHeaders };
    const status = await sendAnswer(response, answer, { headers, delivery });
    if (recorded !== null) recorded.status = status;
  }

  return async (message, response) => {
    try {
      await handle(message, response);
    } catch (error) {
      // A defect of the emulator: show it to the client.
      const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
      if (response.headersSent) message.socket.destroy();
      else await send(response, errorAnswer(500, 'Internal', text), {}, null);
    }
  };
}

let dateSecond = NaN;
let dateText = '';

/** Formats a Date header; cached for a second, since formatting costs more than all other headers. */
function formatHttpDate(epochMs: number): string {
  const second = Math.floor(epochMs / 1000);
  if (second !== dateSecond) {
    dateSecond = second;
    dateText = new Date(epochMs).toUTCString();
  }
  return dateText;
}
