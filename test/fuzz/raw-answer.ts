import fc from 'fast-check';
import { jsonValues, pieces, wordsOf } from './edge.ts';

/** An answer over HTTP as it goes over the wire. `{origin}` in the body is the server's own address. */
export interface RawAnswer {
  /** Instead of all else: bytes that need not be HTTP, as Latin-1. */
  readonly bytes?: string;
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string;
  readonly framing: 'length' | 'too-long' | 'too-short' | 'chunked' | 'bad-chunks' | 'none';
  /** Sent before the request's body was read. */
  readonly early: boolean;
}

/** The bytes of an answer. */
export function renderAnswer(answer: RawAnswer, origin: string): Buffer {
  if (answer.bytes !== undefined) return Buffer.from(answer.bytes, 'latin1');
  const body = Buffer.from(answer.body.replaceAll('{origin}', origin));
  const framed = frame(body, answer.framing);
  const headers = [...answer.headers, ...framed.headers]
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('');
  return Buffer.concat([Buffer.from(`HTTP/1.1 ${answer.status} X\r\n${headers}\r\n`), framed.body]);
}

function frame(
  body: Buffer,
  framing: RawAnswer['framing'],
): { readonly headers: readonly (readonly [string, string])[]; readonly body: Buffer } {
  switch (framing) {
    case 'length':
      return { headers: [['content-length', String(body.length)]], body };
    case 'too-long':
      return { headers: [['content-length', String(body.length + 7)]], body };
    case 'too-short':
      return { headers: [['content-length', String(Math.floor(body.length / 2))]], body };
    case 'chunked': {
      const parts = [`${body.length.toString(16)}\r\n`, body, body.length === 0 ? '\r\n' : '\r\n0\r\n\r\n'];
      return {
        headers: [['transfer-encoding', 'chunked']],
        body: Buffer.concat(parts.map((part) => Buffer.from(part))),
      };
    }
    case 'bad-chunks':
      return {
        headers: [['transfer-encoding', 'chunked']],
        body: Buffer.concat([Buffer.from('zz\r\n'), body]),
      };
    case 'none':
      return { headers: [], body };
  }
}

const number = fc.oneof(
  fc.constantFrom(...wordsOf('0 1 0.5 17 31 60 3600 -1 NaN Infinity 1e9 0x10 999999999')),
  fc.constantFrom('1000000000', '1780000000', '1780000000000', '99999999999999999999', '9'.repeat(400), ''),
  fc.nat().map(String),
  fc.string({ maxLength: 6 }),
);

const date = fc.oneof(
  fc.constantFrom(
    'Thu, 01 Jan 1970 00:00:00 GMT',
    'Sun, 01 Mar 2026 12:00:12 GMT',
    'Fri, 31 Dec 9999 23:59:59 GMT',
  ),
  fc.constantFrom('+275760-09-13T00:00:00Z', '-271821-04-20', '2026', '0', 'tomorrow', ''),
  fc.date({ noInvalidDate: true }).map((moment) => moment.toUTCString()),
);

const location = fc.oneof(
  fc.constantFrom(
    ...wordsOf(`
    http://10.0.0.1/ javascript:alert(1) //x /elsewhere http://u:p@h/?X-Amz-Signature=sig http://[
  `),
    '',
  ),
  fc.webUrl(),
);

const header = fc.oneof(
  fc.tuple(fc.constantFrom('Retry-After', 'retry-after'), fc.oneof(number, date)),
  fc.tuple(fc.constantFrom('RateLimit-Remaining', 'X-RateLimit-Remaining', 'RateLimit-Limit'), number),
  fc.tuple(fc.constantFrom('RateLimit-Reset', 'X-RateLimit-Reset'), number),
  fc.tuple(fc.constant('Date'), date),
  fc.tuple(fc.constant('Location'), location),
  fc.tuple(
    fc.constantFrom(
      ...wordsOf(`
    Content-Type Set-Cookie Connection Content-Encoding Keep-Alive Trailer Upgrade __proto__
    constructor
  `),
    ),
    fc.constantFrom(
      ...wordsOf('close gzip br keep-alive timeout=0 timeout=99999999999 h2c a=b {}'),
      '',
      '\u00e9',
    ),
  ),
  fc.tuple(
    fc.string({ minLength: 1, maxLength: 8 }).map((text) => text.replaceAll(/[\r\n]/gu, '')),
    fc.string({ maxLength: 20 }),
  ),
);

const status = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(200, 200, 201, 204, 206, 299) },
  {
    weight: 4,
    arbitrary: fc.constantFrom(301, 302, 304, 307, 400, 401, 402, 403, 404, 405, 408, 409, 410, 413, 415),
  },
  { weight: 3, arbitrary: fc.constantFrom(429, 500, 502, 503, 504, 599) },
  { weight: 1, arbitrary: fc.constantFrom(0, 99, 100, 101, 103, 600, 999, 1000) },
);

/** Words of a platform's answers, secrets that it might repeat among them. */
const WORDS = [
  ...wordsOf('{ } [ ] , : " null 0 1e999 true'),
  '\\',
  '\n',
  '\0',
  '\u001b[2J',
  '\u202e',
  '\ud800',
  ...wordsOf(`
    "id": "file": "bots": "meta": "nextToken": "uploadUrl": "contentType": "type": "message":
  `),
  ...wordsOf('"description": "code": "__proto__": "a-token" "QuotaExceeded" "Forbidden"'),
  ...wordsOf('<Code> </Code> NoSuchUpload <?xml?> a-token'),
];

/** Any value of JSON under the names that are looked at, and others. */
function values(names: readonly string[], leaves: readonly unknown[]): fc.Arbitrary<unknown> {
  const leaf = fc.oneof(
    fc.constantFrom<unknown>(...leaves),
    fc.constantFrom<unknown>(
      null,
      true,
      0,
      -1,
      1e308,
      '',
      'a',
      'a-token',
      '\u001b[31m',
      '\u0000',
      '\ud800',
      '🙂',
      '\u202e',
    ),
    fc.string({ maxLength: 8, unit: 'binary' }),
  );
  return jsonValues(leaf, [...names, '', 'x', 'signingSecret', 'toString'], {
    depth: 5,
    items: 3,
    fields: 5,
  });
}

/**
 * Answers to one operation.
 *
 * @param shape - answers that begin as they should; every value is generated.
 */
export function answers(
  names: readonly string[],
  leaves: readonly unknown[],
  shape: (value: fc.Arbitrary<unknown>) => fc.Arbitrary<unknown>,
): fc.Arbitrary<RawAnswer> {
  const value = values(names, leaves);
  const failure = fc.record(
    {
      id: value,
      code: value,
      type: fc.oneof(fc.constantFrom('QuotaExceeded', 'Forbidden', 'AlreadyExists'), value),
      message: value,
      description: value,
    },
    { requiredKeys: [] },
  );
  const json = fc.oneof(
    { weight: 4, arbitrary: shape(value) },
    { weight: 1, arbitrary: value },
    { weight: 1, arbitrary: failure },
  );
  const body = fc.oneof(
    { weight: 6, arbitrary: json.map((one) => JSON.stringify(one)) },
    { weight: 1, arbitrary: pieces(WORDS, 30) },
    { weight: 1, arbitrary: fc.nat({ max: 3_000 }).map((depth) => '[{"a":'.repeat(depth)) },
    {
      weight: 1,
      arbitrary: fc.nat({ max: 3_000 }).map((depth) => `{"bots":${'['.repeat(depth)}${']'.repeat(depth)}}`),
    },
  );
  const proper = fc.record({
    status,
    headers: fc.array(header, { maxLength: 4 }),
    body,
    framing: fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom<RawAnswer['framing']>('length') },
      {
        weight: 3,
        arbitrary: fc.constantFrom<RawAnswer['framing']>(
          'too-long',
          'too-short',
          'chunked',
          'bad-chunks',
          'none',
        ),
      },
    ),
    early: fc.boolean(),
  });
  const garbage = fc
    .tuple(
      proper,
      fc.oneof(
        fc.constantFrom('', 'HTTP/1.1', 'HTTP/1.1 200', '\r\n\r\n', 'HTTP/2 200\r\n\r\n', '\x16\x03\x01'),
        fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
      ),
    )
    .map(([answer, bytes]) => ({ ...answer, bytes }));
  return fc.oneof({ weight: 12, arbitrary: proper }, { weight: 1, arbitrary: garbage });
}
