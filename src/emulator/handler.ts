import type { IncomingMessage, ServerResponse } from 'node:http';
import { refuse, type OperationResult, type AnswerHeaders } from './answer.ts';
import { playFault } from './fault-play.ts';
import { checkAccess } from './access.ts';
import type { Conditions } from './conditions.ts';
import type { Faults } from './faults.ts';
import { backdatedUploadUrl } from './file-resource.ts';
import { aboutNoFile, type Operation } from './operation.ts';
import type { Platform } from './platform.ts';
import { sendAnswer, type AnswerPacing } from './reply.ts';
import { EmulatorRequest } from './request.ts';
import type { RecordedRequest } from './request-log.ts';
import { createRouter } from './router.ts';

/** Stands in for the operation when no route matches. Source: platform-operations.md, Unknown. */
function unknownOperation(status: 404 | 405): Operation {
  return {
    name: 'unknown',
    method: '*',
    pattern: '*',
    surface: 'api',
    identify: aboutNoFile,
    answer: ({ message, path }) =>
      refuse(status, 'MethodNotFound', `This emulator does not serve ${message.method ?? ''} ${path}`),
  };
}

const UNKNOWN = { nothing: unknownOperation(404), 'other-method': unknownOperation(405) };

/** Takes every request of the server from its arrival to its answer. Never rejects. */
export type Handler = (message: IncomingMessage, response: ServerResponse) => Promise<void>;

/**
 * Makes the handler: count and record, outage, rate limit, scripted fault, token, operation, answer. The page for people
 * is answered at once, whatever befalls the platform.
 */
export function createHandler(platform: Platform, faults: Faults, conditions: Conditions): Handler {
  const { log } = platform;
  const route = createRouter(platform.settings.operations);

  async function handle(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const request = new EmulatorRequest(message, platform.settings.limits.jsonBytes);
    const found = route(request.method, request.path);
    const operation = found.kind === 'operation' ? found.operation : UNKNOWN[found.kind];
    request.params = found.kind === 'operation' ? found.params : {};
    if (operation.surface === 'page') {
      await send(response, await operation.answer(request, platform), {}, null);
      return;
    }
    log.count(operation.name);

    const { key } = await operation.identify(request, platform);
    const recorded = log.record(operation.name, request, key);

    const outage = conditions.outage(operation.surface);
    if (outage !== null) {
      await send(response, outage, {}, recorded);
      return;
    }
    const verdict = conditions.admit(operation.surface, platform.now());
    const rateHeaders = verdict?.headers ?? {};
    if (verdict !== null && !verdict.allowed) {
      const answer = refuse(429, 'RateLimited', 'Too many requests', verdict.refusalHeaders);
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
    const refusal = operation.name === 'unknown' ? null : checkAccess(operation.surface, request, platform);
    if (refusal !== null) return refusal;
    conditions.slow(operation.surface, request.message);
    return operation.answer(request, platform);
  }

  async function send(
    response: ServerResponse,
    answer: OperationResult,
    rateHeaders: AnswerHeaders,
    recorded: RecordedRequest | null,
    delivery: AnswerPacing = { kind: 'at-once' },
  ): Promise<void> {
    if (response.socket === null || response.socket.destroyed) return;
    if (recorded !== null) log.settle(recorded, 'status' in answer ? answer.status : 200);
    const headers = { Date: formatHttpDate(platform.now()), ...rateHeaders };
    const status = await sendAnswer(response, answer, { headers, delivery });
    if (recorded !== null) log.settle(recorded, status);
  }

  return async (message, response) => {
    try {
      await handle(message, response);
    } catch (error) {
      // A defect of the emulator: the client is told what it is.
      const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
      if (response.headersSent) message.socket.destroy();
      else await send(response, refuse(500, 'Internal', text), {}, null);
    }
  };
}

let dateSecond = NaN;
let dateText = '';

/** The value of a Date header; kept for the second, since formatting costs more than the rest of the headers. */
function formatHttpDate(epochMs: number): string {
  const second = Math.floor(epochMs / 1000);
  if (second !== dateSecond) {
    dateSecond = second;
    dateText = new Date(epochMs).toUTCString();
  }
  return dateText;
}
