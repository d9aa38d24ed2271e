import { describe, expect, test } from 'vitest';
import { connectionFailure } from '../../src/platform/connection-failure.ts';
import { failureOf, redirected } from '../../src/platform/failures.ts';
import { START } from './fixture.ts';

type Kind = 'all' | 'bot' | 'unknown-bot' | 'quota' | 'refused' | 'transient';

/** Every status and type of platform-facts.md (Errors) and interface.md (Errors), and the otherHosts of each rule. */
const MEANINGS: readonly (readonly [number, string | null, Kind])[] = [
  [400, 'InvalidPayload', 'refused'],
  [400, 'InvalidDataFormat', 'refused'],
  [400, 'InvalidQuery', 'refused'],
  [400, 'ReferenceNotFound', 'refused'],
  [400, null, 'refused'],
  [401, 'Unauthorized', 'all'],
  [401, null, 'all'],
  [402, 'PaymentRequired', 'quota'],
  [402, null, 'quota'],
  [403, 'Forbidden', 'bot'],
  [403, null, 'bot'],
  [403, 'QuotaExceeded', 'quota'],
  [404, 'ResourceNotFound', 'unknown-bot'],
  [404, null, 'unknown-bot'],
  [405, 'MethodNotFound', 'refused'],
  [408, null, 'transient'],
  [409, 'ResourceLockedConflict', 'transient'],
  [409, 'AlreadyExists', 'refused'],
  [409, 'RelationConflict', 'refused'],
  [409, null, 'transient'],
  [410, 'ResourceGone', 'refused'],
  [413, 'PayloadTooLarge', 'refused'],
  [413, 'LimitExceeded', 'refused'],
  [415, 'UnsupportedMediaType', 'refused'],
  [418, null, 'refused'],
  [422, null, 'refused'],
  [429, 'RateLimited', 'transient'],
  [429, null, 'transient'],
  [499, null, 'refused'],
  [500, 'Unknown', 'transient'],
  [500, 'Internal', 'transient'],
  [500, null, 'transient'],
  [502, null, 'transient'],
  [503, null, 'transient'],
  [504, 'OperationTimeout', 'transient'],
  [599, null, 'transient'],
];

const SHAPES = {
  'id, code, type, message': (status: number, type: string) => ({
    id: 'err_1',
    code: status,
    type,
    message: 'In words',
    metadata: {},
  }),
  'type, description, status': (status: number, type: string) => ({ type, description: 'In words', status }),
};

function meaning(status: number, text: string, notFound: 'bot-unknown' | 'refused' = 'bot-unknown'): Kind {
  const failure = failureOf({ status, headers: {}, text }, START, notFound);
  return failure.kind === 'credentials' ? failure.scope : failure.kind;
}

describe('the words of an answer', () => {
  test('are well-formed, also where they were not, and where they are cut', () => {
    const quoted = (message: string): string =>
      failureOf(
        { status: 401, headers: {}, text: JSON.stringify({ type: 'Unauthorized', message }) },
        START,
        'refused',
      ).message;
    expect(quoted('a\ud83d b\udc00')).toBe('401 Unauthorized: a\ufffd b\ufffd');
    expect(quoted(`${'a'.repeat(299)}🙂`)).toBe(`401 Unauthorized: ${'a'.repeat(299)}…`);
    expect(quoted(`${'a'.repeat(298)}🙂`)).toBe(`401 Unauthorized: ${'a'.repeat(298)}🙂`);
  });
});

describe('what an answer means', () => {
  for (const [shape, body] of Object.entries(SHAPES)) {
    test.each(MEANINGS.flatMap(([status, type, kind]) => (type === null ? [] : [{ status, type, kind }])))(
      `$status $type is $kind, told by ${shape}`,
      ({ status, type, kind }) => {
        const text = JSON.stringify(body(status, type));
        expect(meaning(status, text)).toBe(kind);
        expect(failureOf({ status, headers: {}, text }, START, 'bot-unknown').message).toBe(
          `${status} ${type}: In words`,
        );
      },
    );
  }

  test.each(
    MEANINGS.flatMap(([status, type, kind]) =>
      type === null
        ? [
            '',
            '<html>Bad gateway</html>',
            'null',
            '[]',
            '7',
            '"text"',
            '{}',
            '{"type":7,"message":{}}',
            '{"ty',
          ].map((text) => ({ status, kind, text }))
        : [],
    ),
  )('$status is $kind with the body $text', ({ status, kind, text }) => {
    expect(meaning(status, text)).toBe(kind);
    expect(failureOf({ status, headers: {}, text }, START, 'bot-unknown').message).toBe(String(status));
  });

  test('404 is a matter of the operation', () => {
    expect(meaning(404, '', 'refused')).toBe('refused');
    expect(meaning(404, '', 'bot-unknown')).toBe('unknown-bot');
  });

  test('a success that makes no sense may pass', () => {
    expect(failureOf({ status: 200, headers: {}, text: '<html>' }, START, 'bot-unknown')).toEqual({
      kind: 'transient',
      message: '200 with an unexpected answer',
      unusable: true,
    });
    expect(meaning(299, '')).toBe('transient');
  });
});

describe('the patience an answer asks for', () => {
  test.each([408, 409, 429, 500, 503])('is kept with %d', (status) => {
    expect(failureOf({ status, headers: { 'retry-after': '7' }, text: '' }, START, 'bot-unknown')).toEqual({
      kind: 'transient',
      message: String(status),
      retryAfterMs: 7000,
      ...((status === 409 || status === 429) && { answered: true }),
      ...(status === 429 && { notCarriedOut: true }),
    });
  });

  test('is absent when the answer does not say', () => {
    expect(failureOf({ status: 503, headers: {}, text: '' }, START, 'bot-unknown')).toEqual({
      kind: 'transient',
      message: '503',
    });
  });

  test('counts a date from now', () => {
    const headers = { 'retry-after': new Date(START + 9500).toUTCString() };
    expect(failureOf({ status: 503, headers, text: '' }, START, 'bot-unknown')).toMatchObject({
      retryAfterMs: 9500,
    });
  });
});

describe("the platform's words", () => {
  const messageOf = (body: unknown): string =>
    failureOf({ status: 400, headers: {}, text: JSON.stringify(body) }, START, 'bot-unknown').message;

  test.each([
    ['a line break', 'one\r\ntwo', 'one two'],
    ['a terminal escape', 'red \u001b[31malarm', 'red  [31malarm'],
    ['NUL, DEL and C1 controls', 'a\u0000b\u007fc\u009bd', 'a b c d'],
  ])('lose %s', (_, said, shown) => {
    expect(messageOf({ type: said, message: said })).toBe(`400 ${shown}: ${shown}`);
    expect(messageOf({ description: said })).toBe(`400: ${shown}`);
  });

  test('are cut to a bearable length', () => {
    expect(messageOf({ message: 'x'.repeat(300) })).toBe(`400: ${'x'.repeat(300)}`);
    expect(messageOf({ message: 'x'.repeat(100_000) })).toBe(`400: ${'x'.repeat(300)}…`);
    expect(messageOf({ type: 'T'.repeat(100_000) })).toBe(`400 ${'T'.repeat(300)}…`);
  });

  test('come from message rather than description, and empty ones are none', () => {
    expect(messageOf({ message: 'm', description: 'd' })).toBe('400: m');
    expect(messageOf({ type: '', message: '', description: 'd' })).toBe('400: d');
  });
});

describe('a redirect', () => {
  test.each([
    [
      'an address with secrets',
      'https://user:pw@other.test:8443/p?X-Amz-Signature=s#t',
      ' to https://other.test:8443',
    ],
    ['a relative one', '/elsewhere?X-Amz-Signature=s', ''],
    ['none', undefined, ''],
    ['several', ['https://one.test/', 'https://two.test/'], ''],
  ])('to %s names the host at most', (_, location, shown) => {
    const message = `307: redirected${shown}, which is not followed; check the address in the config`;
    const answer = { status: 307, headers: { location } };
    const failure = { kind: 'transient', message, unusable: true };
    expect(redirected(answer)).toEqual(failure);
    expect(failureOf({ ...answer, text: '' }, START, 'bot-unknown')).toEqual(failure);
  });
});

describe('an error of the connection', () => {
  const PEER = { url: new URL('https://example.org/v1'), field: 'platform.baseUrl' };

  test('names the peer where no connection was made', () => {
    expect(connectionFailure({ code: 'ECONNREFUSED' }, null, PEER)).toEqual({
      kind: 'transient',
      message: 'cannot reach https://example.org (platform.baseUrl): connection refused (ECONNREFUSED)',
      notCarriedOut: true,
      noConnection: 'remote',
    });
  });

  test.each<[string, unknown, string]>([
    ['a known code', { code: 'ECONNRESET', message: 'read' }, 'connection lost (ECONNRESET)'],
    ['a code of the cause', { message: 'failed', cause: { code: 'EPIPE' } }, 'connection lost (EPIPE)'],
    ['an unknown code', { code: 'EPROTO', message: 'https://x/?sig=s' }, 'EPROTO'],
    ['only a message', new Error('strange'), 'strange'],
    ['nothing', {}, 'connection failed'],
  ])('with %s is transient', (_, error, message) => {
    expect(connectionFailure(error, null, PEER)).toEqual({ kind: 'transient', message });
  });

  test.each(['CERT_HAS_EXPIRED', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'ERR_TLS_CERT_ALTNAME_INVALID'])(
    'that is %s came before anything was sent',
    (code) => {
      expect(connectionFailure({ code, message: 'https://x/?sig=s' }, null, PEER)).toEqual({
        kind: 'transient',
        message: `cannot reach https://example.org (platform.baseUrl): its certificate is not trusted (${code})`,
        notCarriedOut: true,
        noConnection: 'untrusted',
      });
    },
  );

  test.each([new TypeError('x is not a function'), new ReferenceError('x'), new RangeError('x')])(
    'is not %s: that is a defect',
    (defect) => {
      expect(() => connectionFailure(defect, null, PEER)).toThrow(defect);
    },
  );
});
