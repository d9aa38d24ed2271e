import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { OptionalFailure, Outcome } from '../../src/domain/failure.ts';
import type { RequestRetries } from '../../src/platform/requester.ts';
import { connect, readBody, serve, SimulatedClock, type ClientOptions, type TestClient } from './fixture.ts';

/** One request as a server got it. */
export interface Seen {
  readonly method: string | undefined;
  /** The raw path and query. */
  readonly url: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A server of the test's own, our connections to it, and what it saw. */
export interface Operations extends TestClient {
  readonly url: string;
  readonly seen: Seen[];
  readonly retries: RequestRetries;
  /** The reasons for which requests were repeated. */
  readonly retried: string[];
  readonly clock: SimulatedClock;
}

/** Starts a server whose answers are given one after the other; the last is given for ever. */
export async function play(
  answers: readonly ((response: ServerResponse) => void)[],
  options: ClientOptions = {},
): Promise<Operations> {
  const seen: Seen[] = [];
  const { url } = await serve((request, response) => {
    void readBody(request).then((body) => {
      const answer = answers[Math.min(seen.length, answers.length - 1)];
      seen.push({
        method: request.method,
        url: request.url,
        headers: request.headers,
        body: body.toString(),
      });
      answer?.(response);
    });
  });
  const clock = new SimulatedClock();
  const retried: string[] = [];
  const retries = {
    attempts: 3,
    giveUpAfterMs: 60_000,
    random: () => 0.5,
    onRetry: (reason: string) => retried.push(reason),
  };
  return { ...connect(url, { clock, ...options }), url, seen, retries, retried, clock };
}

/** Answers with a status and JSON, or with a text as it is. */
export function say(status: number, body: unknown, headers: Record<string, string> = {}) {
  return (response: ServerResponse): void => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  };
}

/** Breaks the connection off. */
export function drop(response: ServerResponse): void {
  response.socket?.destroy();
}

/** An outcome as one word, for tables. */
export function kindOf(outcome: Outcome<unknown, OptionalFailure>): string {
  return outcome.kind === 'ok' ? 'ok' : outcome.failure.kind;
}

/** The message of an outcome that has to be a failure. */
export function messageOf(outcome: Outcome<unknown, OptionalFailure>): string {
  return outcome.kind === 'ok' ? 'it did not fail' : outcome.failure.message;
}

/** The names of the headers that say who calls. */
export function callerHeaders(seen: Seen | undefined): Record<string, unknown> {
  const ours = Object.entries(seen?.headers ?? {}).filter(
    ([name]) => name.startsWith('x-') || name === 'authorization',
  );
  return Object.fromEntries(ours);
}
