import type { RequestListener } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { OutgoingContent } from '../../src/domain/file-catalog.ts';
import { systemClock } from '../../src/service/system-clock.ts';
import { inChunks, listen, makeClient, NEVER, readBody, upsertBody, type ClientOptions } from './fixture.ts';

/** Short for a stall, long for a pause of this process. */
const STALL_MS = 1000;

/** Many times faster than what a kernel of a busy machine acknowledges at once in `STALL_MS`. */
const SLOW_BYTES_PER_MS = 4000;

const NO_PROGRESS = 'no progress within upload.stallTimeout';
const STANDS_STILL = 'no progress of the answer within upload.stallTimeout';
const NO_ANSWER = 'no answer within upload.stallTimeout';

// Not by stubEnv, which is undone before each test: these run side by side.
beforeAll(() => {
  process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
});

afterAll(() => {
  delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
});

/** How a request to such a server ends. Closes everything itself: these tests run side by side. */
async function outcomeOf(
  protocol: 'http' | 'https',
  listener: RequestListener,
  content: OutgoingContent | 'upsert',
  options: ClientOptions = {},
  pauseMs = 0,
): Promise<string> {
  const server = await listen(listener, protocol);
  const { platform, http, pacer } = makeClient(server.url, {
    stallTimeoutMs: STALL_MS,
    clock: systemClock,
    ...options,
  });
  pacer.pause(pauseMs);
  const file = { uploadUrl: new URL(server.url), contentType: 'a/b' };
  const outcome =
    content === 'upsert'
      ? await platform.upsert('b', upsertBody('a', 1), NEVER)
      : await platform.upload(file, content, false, NEVER);
  await http.close();
  await server.close();
  return outcome.kind === 'ok' ? 'ok' : `${outcome.failure.kind}: ${outcome.failure.message}`;
}

function whole(sizeBytes: number): OutgoingContent {
  return { kind: 'whole', bytes: Buffer.alloc(sizeBytes) };
}

function stream(sizeBytes: number, chunkBytes?: number): OutgoingContent {
  return { kind: 'stream', sizeBytes, chunks: inChunks(Buffer.alloc(sizeBytes), chunkBytes) };
}

function sleep(ms: number): Promise<void> {
  return systemClock.sleep(ms, NEVER);
}

describe.concurrent.each(['http', 'https'] as const)('over %s a transfer is ended', (protocol) => {
  test.for<[string, OutgoingContent, string]>([
    ['large', stream(64_000_000), NO_PROGRESS],
    ['small', whole(200_000), NO_PROGRESS],
  ])('when the server stops reading: %s', async ([, content, message], { expect }) => {
    const outcome = await outcomeOf(protocol, (request) => request.pause(), content);
    expect(outcome).toBe(`transient: ${message}`);
  });

  test.for<[string, OutgoingContent, string]>([
    ['empty', whole(0), NO_ANSWER],
    ['small', whole(200_000), NO_ANSWER],
    ['large', stream(1_000_000), NO_ANSWER],
  ])('when no answer follows the last byte: %s', async ([, content, message], { expect }) => {
    expect(await outcomeOf(protocol, (request) => request.resume(), content)).toBe(`transient: ${message}`);
  });

  test.for<[string, OutgoingContent]>([
    ['tiny', whole(100)],
    ['small', whole(200_000)],
  ])('when no answer follows the last byte, though it was sent late: %s', async ([, content], { expect }) => {
    const sizeBytes = content.kind === 'whole' ? content.bytes.length : 0;
    const outcome = await outcomeOf(protocol, (request) => request.resume(), content, {
      limits: { maxBytesPerSecond: sizeBytes / 2 },
    });
    expect(outcome).toBe(`transient: ${NO_ANSWER}`);
  });

  test('when the answer stands still', async ({ expect }) => {
    expect(await outcomeOf(protocol, halfway, whole(10))).toBe(`transient: ${STANDS_STILL}`);
    expect(await outcomeOf(protocol, halfway, stream(1_000_000))).toMatch(/^transient: /u);
  });

  test('also an upsert, with no answer and half of one', async ({ expect }) => {
    expect(await outcomeOf(protocol, (request) => request.resume(), 'upsert')).toBe(
      `transient: ${NO_ANSWER}`,
    );
    expect(await outcomeOf(protocol, halfway, 'upsert')).toBe(`transient: ${STANDS_STILL}`);
  });
});

describe.concurrent.each(['http', 'https'] as const)('over %s a transfer goes on', (protocol) => {
  test.for<[string, OutgoingContent, number]>([
    ['as a stream', stream(32_000_000), 12_000_000],
    // Nothing but the queues tells of its progress: it is handed over all at once.
    ['whole', whole(16_000_000), 12_000_000],
  ])('while the server reads slowly: %s', async ([, content, slowBytes], { expect }) => {
    let readMs = 0;
    const outcome = await outcomeOf(
      protocol,
      (request, response) => {
        const begunMs = performance.now();
        let got = 0;
        request.on('data', (chunk: Buffer) => {
          got += chunk.length;
          // The rest is read at once: what the kernel holds by now looks to the client as if it had been read.
          if (got > slowBytes) return;
          readMs = performance.now() - begunMs;
          request.pause();
          setTimeout(() => request.resume(), chunk.length / SLOW_BYTES_PER_MS);
        });
        request.on('end', () => response.end());
      },
      content,
    );
    expect(outcome).toBe('ok');
    expect(readMs).toBeGreaterThan(2 * STALL_MS);
  });

  test('while the disk is slow', async ({ expect }) => {
    const chunks = (async function* () {
      for (let i = 0; i < 3; i += 1) {
        yield Buffer.alloc(200_000);
        await sleep(STALL_MS * 1.5);
      }
    })();
    const outcome = await outcomeOf(protocol, answerWhenRead, { kind: 'stream', sizeBytes: 600_000, chunks });
    expect(outcome).toBe('ok');
  });

  test.for<[string, OutgoingContent, number]>([
    // A quarter of a second's worth goes at once, the rest waits longer than a stall would.
    ['small', whole(200_000), 100_000],
    ['large', stream(600_000), 200_000],
  ])('while we wait for our own maxBytesPerSecond: %s', async ([, content, rate], { expect }) => {
    const begunMs = performance.now();
    const outcome = await outcomeOf(protocol, answerWhenRead, content, {
      limits: { maxBytesPerSecond: rate },
    });
    expect(outcome).toBe('ok');
    expect(performance.now() - begunMs).toBeGreaterThan(1.5 * STALL_MS);
  });

  test('while the platform makes us pause', async ({ expect }) => {
    expect(await outcomeOf(protocol, answerWhenRead, stream(1_000_000), {}, 1.5 * STALL_MS)).toBe('ok');
  });
});

describe.each(['http', 'https'] as const)('over %s a transfer is over', (protocol) => {
  test('without a timer left behind that would keep the process', async () => {
    const before = timers();
    expect(await outcomeOf(protocol, answerWhenRead, stream(1_000_000), { stallTimeoutMs: 600_000 })).toBe(
      'ok',
    );
    expect(
      await outcomeOf(protocol, (request) => request.socket.destroy(), stream(1_000_000), {
        stallTimeoutMs: 600_000,
      }),
    ).toMatch(/^transient/u);
    expect(timers()).toBeLessThanOrEqual(before);
  });
});

const halfway: RequestListener = (request, response) => {
  request.resume();
  response.writeHead(200, { 'content-length': '10' }).write('half');
};

const answerWhenRead: RequestListener = (request, response) => {
  void readBody(request).then(() => response.end());
};

/** Timers that keep this process alive. */
function timers(): number {
  return process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
}

describe.concurrent.each(['http', 'https'] as const)(
  'over %s an answer that never ends is given up, however often a byte of it comes:',
  (protocol) => {
    const trickle: RequestListener = (request, response) => {
      request.resume();
      response.writeHead(200);
      const timer = setInterval(() => response.write(' '), 50);
      response.once('close', () => {
        clearInterval(timer);
      });
    };
    const hints: RequestListener = (request, response) => {
      request.resume();
      const timer = setInterval(() => {
        response.writeEarlyHints({ link: '</a>; rel=preload' });
      }, 50);
      response.once('close', () => {
        clearInterval(timer);
      });
    };
    test.for<[string, RequestListener, OutgoingContent | 'upsert', string]>([
      ['to an upsert', trickle, 'upsert', STANDS_STILL],
      ['to a small content', trickle, whole(3), STANDS_STILL],
      ['as early hints', hints, 'upsert', NO_ANSWER],
    ])('%s', async ([, listener, content, message], { expect }) => {
      expect(await outcomeOf(protocol, listener, content)).toBe(`transient: ${message}`);
    });
  },
);
