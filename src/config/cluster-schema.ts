import * as z from 'zod';
import { meaning, problem, quote, type Reading } from './problem.ts';
import { secret, text, timer, type Help } from './schema-fields.ts';

/** The syntax of a host's name; also in the JSON Schema. */
const HOST_PATTERN = '^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$';

/** The syntax of a schema's name: an identifier that PostgreSQL accepts without quotes. Also in the JSON Schema. */
const SCHEMA_PATTERN = '^[a-z_][a-z0-9_]{0,62}$';

const HOST = new RegExp(HOST_PATTERN, 'u');
const SCHEMA = new RegExp(SCHEMA_PATTERN, 'u');

/** The syntax of a host's name, for messages. */
export const HOST_RULE =
  'a letter or a digit, then up to 62 letters, digits, dots, underscores and hyphens, such as "web1"';

export function isHostName(text: string): boolean {
  return HOST.test(text);
}

function host(help: Help) {
  return text(readHost, { ...help, pattern: HOST_PATTERN });
}

export const clusterSchema = z.strictObject({
  database: secret(
    {
      description:
        'Where the address of the PostgreSQL database is stored, "postgresql://USER:PASSWORD@HOST/DATABASE" (never the address itself): "env:NAME", "file:PATH" or "credential:NAME".',
      examples: ['env:BOTSYNC_DATABASE', 'file:/etc/botsync/database', 'credential:database'],
    },
    'BOTSYNC_DATABASE',
  ),
  schema: text(readSchema, {
    description: "The schema of the database with botsync's tables.",
    examples: ['botsync'],
    pattern: SCHEMA_PATTERN,
  }).prefault('botsync'),
  host: host({
    description:
      'Name of this host, which no other host of the cluster has. Default: the host name of the machine.',
    examples: ['web1'],
  }).exactOptional(),
  lease: timer(
    {
      description: 'Other hosts take over the sources of a host that has not been heard from for this long.',
    },
    3_000,
    5 * 60_000,
  ).prefault('10s'),
  suspectAfter: timer(
    {
      description:
        'After a takeover, files that the previous host may still have been sending are sent once more after this long.',
    },
    1_000,
    24 * 3_600_000,
  ).prefault('20m'),
});

function readHost(written: string): Reading<string> {
  if (isHostName(written)) return meaning(written);
  return problem(`${quote(written)} cannot be the name of a host; write ${HOST_RULE}`);
}

function readSchema(written: string): Reading<string> {
  if (/^pg_|^information_schema$/u.test(written))
    return problem(`${quote(written)} is reserved by PostgreSQL; write another name, such as "botsync"`);
  if (SCHEMA.test(written)) return meaning(written);
  const guess = written.toLowerCase().replaceAll(/[ .-]/gu, '_');
  return problem(
    `${quote(written)} cannot be the name of a schema; write ${SCHEMA.test(guess) ? quote(guess) : 'lower-case letters, digits and underscores, at most 63 and no digit first, such as "botsync"'}`,
  );
}
