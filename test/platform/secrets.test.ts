import { describe, expect, test } from 'vitest';
import type { PlatformFailure } from '../../src/domain/failure.ts';
import type { FaultAction } from '../../src/emulator/faults.ts';
import { start } from '../emulator/fixture.ts';
import { connect, failureIn, inChunks, NEVER, serve, upsertBody, valueOf } from './fixture.ts';

const TOKEN = 'bp_pat_Zx81-very/secret+token=';

/** What a platform says that repeats everything it knows. */
function indiscreet(known: string): Record<string, unknown> {
  return {
    type: `Strange ${known}`,
    message: `${'x'.repeat(290)}${known}`,
    description: known,
    metadata: { known },
  };
}

const STATUSES = [200, 301, 400, 401, 402, 403, 404, 409, 413, 429, 500, 503];

const BREAKS: readonly FaultAction[] = [
  { kind: 'drop' },
  { kind: 'garbage' },
  { kind: 'cut', afterBytes: 1 },
  { kind: 'answer-then-drop' },
  { kind: 'apply-then-drop' },
];

describe('no failure tells a secret:', () => {
  test('the token', async () => {
    const { emulator } = await start({ token: TOKEN });
    const { platform } = connect(emulator.baseUrl, { token: TOKEN });
    const failures: PlatformFailure[] = [];
    const inBase64 = Buffer.from(TOKEN).toString('base64');
    const faults: FaultAction[] = [
      ...BREAKS,
      ...STATUSES.flatMap((status): FaultAction[] => [
        {
          kind: 'status',
          status,
          body: indiscreet(TOKEN),
          headers: { Location: `https://u:${encodeURIComponent(TOKEN)}@h.test/${TOKEN}` },
        },
        { kind: 'status', status, body: indiscreet(`Bearer ${TOKEN}`) },
        { kind: 'status', status, body: indiscreet(encodeURIComponent(TOKEN)) },
        { kind: 'status', status, body: indiscreet(inBase64) },
        { kind: 'status', status, body: indiscreet(TOKEN.toUpperCase()) },
        { kind: 'status', status, body: TOKEN },
        { kind: 'status', status, body: JSON.stringify({ message: TOKEN }).replaceAll('/', '\\/') },
      ]),
    ];
    for (const fault of faults) {
      emulator.faults.add({ operation: 'upsert', ...fault });
      failures.push(failureIn(await platform.upsert('demo-bot', upsertBody('a', 3), NEVER)));
    }
    expect(failures).toHaveLength(faults.length);
    for (const failure of failures) {
      expect(JSON.stringify(failure)).not.toMatch(/bp_pat_/iu);
      expect(JSON.stringify(failure)).not.toContain(inBase64.slice(0, 12));
    }
  });

  test('the signature of the upload address', async () => {
    const { emulator } = await start();
    const { platform } = connect(emulator.baseUrl, { token: emulator.token });
    const failures: [PlatformFailure, URL][] = [];
    const content = Buffer.alloc(300_000);
    for (const fault of [
      ...BREAKS.filter(({ kind }) => kind !== 'garbage'),
      ...STATUSES.filter((status) => status !== 200).map((status) => ({ kind: 'status' as const, status })),
    ]) {
      for (const isStreamed of [false, true]) {
        const file = valueOf(
          await platform.upsert('demo-bot', upsertBody('a', isStreamed ? content.length : 3), NEVER),
        );
        const code = isStreamed ? 'Strange' : file.uploadUrl.searchParams.get('X-Amz-Signature');
        const said = `<Error><Code>${code}</Code><StringToSign>${file.uploadUrl.href}</StringToSign></Error>`;
        const action: FaultAction =
          fault.kind === 'status'
            ? { ...fault, body: said, headers: { Location: file.uploadUrl.href } }
            : fault;
        emulator.faults.add({ operation: 'upload', ...action });
        const outcome = await platform.upload(
          file,
          isStreamed
            ? { kind: 'stream', sizeBytes: content.length, chunks: inChunks(content) }
            : { kind: 'whole', bytes: Buffer.from('abc') },
          false,
          NEVER,
        );
        emulator.faults.clear();
        // A small body is on its way before anybody could answer too early.
        if (outcome.kind === 'failed') failures.push([outcome.failure, file.uploadUrl]);
      }
    }
    expect(failures.length).toBeGreaterThanOrEqual(2 * (STATUSES.length - 1) + 6);
    for (const [failure, url] of failures) {
      const signature = url.searchParams.get('X-Amz-Signature') ?? '';
      expect(signature).toMatch(/^[0-9a-f]{64}$/u);
      expect(JSON.stringify(failure)).not.toContain(signature);
      expect(JSON.stringify(failure)).not.toContain(url.pathname);
    }
  });

  test('an upload address that leads nowhere, or is none', async () => {
    const { platform } = connect('http://unused.test');
    for (const address of [
      'http://no-such-host.invalid/SECRET?X-Amz-Signature=SECRET',
      'http://127.0.0.1:1/SECRET?X-Amz-Signature=SECRET',
      'https://127.0.0.1:1/SECRET?X-Amz-Signature=SECRET',
      'http://SECRET:SECRET@127.0.0.1:1/',
    ]) {
      const file = { uploadUrl: new URL(address), contentType: 'a/b' };
      const outcome = await platform.upload(file, { kind: 'whole', bytes: Buffer.from('abc') }, false, NEVER);
      expect(failureIn(outcome).kind).toBe('transient');
      expect(JSON.stringify(outcome)).not.toContain('SECRET');
    }
    const server = await serve((_, response) => {
      response.end(JSON.stringify({ file: { uploadUrl: 'ftp://h.test/?X-Amz-Signature=SECRET' } }));
    });
    const upserted = await connect(server.url).platform.upsert('b', upsertBody('a', 3), NEVER);
    expect(JSON.stringify(failureIn(upserted))).not.toContain('SECRET');
  });

  test('the signature of an address that an error quotes', async () => {
    const server = await serve((_, response) => {
      response.statusCode = 400;
      const message =
        'cannot sign "https://u:SECRET@h.test/a?X-Amz-Signature=SECRET&b", http://h.test/?s=SECRET';
      response.end(JSON.stringify({ type: 'InvalidPayload', message }));
    });
    const upserted = await connect(server.url).platform.upsert('b', upsertBody('a', 3), NEVER);
    expect(failureIn(upserted).message).toBe(
      '400 InvalidPayload: cannot sign "https://h.test/a", http://h.test/',
    );
  });

  test("what a store puts into its error's code", async () => {
    const { emulator } = await start();
    const { platform } = connect(emulator.baseUrl, { token: emulator.token });
    for (const code of ['\u001b[2Jgone', 'two\nlines', 'https://h.test/?X-Amz-Signature=SECRET']) {
      const file = valueOf(await platform.upsert('demo-bot', upsertBody('a', 3), NEVER));
      emulator.faults.add({ operation: 'upload', kind: 'status', status: 400, body: `<Code>${code}</Code>` });
      const outcome = await platform.upload(file, { kind: 'whole', bytes: Buffer.from('abc') }, false, NEVER);
      expect(failureIn(outcome).message).toBe('the upload address answered 400');
    }
  });
});
