import { isIP } from 'node:net';
import * as z from 'zod';
import { problemOfIgnorePattern, compilePattern, PatternError } from '../domain/pattern.ts';
import { charactersOf, LONGEST_TAG_VALUE } from '../domain/limits.ts';
import type { ListenAddress } from '../domain/listen-address.ts';
import { LONGEST_NAME } from '../domain/request-limits.ts';
import type { SecretReference } from './config.ts';
import { formatDuration } from './duration.ts';
import { meaning, problem, quote, type Reading } from './problem.ts';

/** The syntax of a reference to a secret; also in the JSON Schema. */
export const SECRET_PATTERN = '^(?:env:[A-Za-z_][A-Za-z0-9_]*|file:.+|credential:[A-Za-z0-9_.@-]+)$';

/** The syntax of an address to listen at; also in the JSON Schema. */
export const LISTEN_PATTERN = '^(?:\\[([0-9A-Fa-f:.]+)\\]|([0-9.]+)):[0-9]{1,5}$';

const LISTEN = new RegExp(LISTEN_PATTERN, 'u');

/** The beginning of the platform's own tokens. */
const LOOKS_LIKE_TOKEN = /^bp_[a-z]+_/u;

const PRINTABLE = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/u;
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/u;

/** Half of a surrogate pair: not well-formed Unicode, which no file name, database or platform accepts. */
const HALF = /\p{Surrogate}/u;

/** Says what is wrong with a text that is not well-formed Unicode; `null` if it is well-formed. */
function brokenIn(text: string): string | null {
  const [half] = HALF.exec(text) ?? [];
  return half === undefined ? null : `contains half of a character; write it without ${quote(half)}`;
}

/** Returns whether a text is a placeholder of the examples: `…`, `<bot id>`, `YOUR_BOT_ID`. */
export function isPlaceholder(text: string): boolean {
  return /^(?:…|\.{3}|<.*>|your[_ -].*|change[_ -]?me|todo|x{3,})$/iu.test(text.trim());
}

/** Reads an http(s) address without credentials, query and fragment; removes trailing slashes. */
export function readUrl(text: string): Reading<string> {
  // A part before an @ or after a ? may be a secret, so these messages do not show the address.
  if (/[?#]/u.test(text))
    return problem('this address must not have a query or a fragment; end it before the "?" or "#"');
  const url = /^https?:\/\//iu.test(text) && URL.canParse(text) ? new URL(text) : null;
  if (url === null) {
    const guess = /^[\w.-]+\.[a-z]+(?:[:/][^@]*)?$/iu.test(text) ? `https://${text}` : 'https://HOST';
    return problem(
      `${text.includes('@') ? 'this' : quote(text)} is not an http(s) address; write for example "${guess}"`,
    );
  }
  if (url.username !== '' || url.password !== '') {
    return problem(
      'this address must not have a user name or a password; remove everything up to the "@" (the token has its own field)',
    );
  }
  return meaning(`${url.origin}${url.pathname.replace(/\/+$/u, '')}`);
}

/** Reads an id: printable ASCII without spaces, because it is sent in a header or a URL. */
export function readId(text: string): Reading<string> {
  if (text === '') return problem('is empty; write the id, or remove the field');
  if (/^[\x21-\x7e]+$/u.test(text)) return meaning(text);
  return problem(
    isPlaceholder(text)
      ? 'is still the placeholder from the example; write the id'
      : 'contains a space or a character that ids do not have; write only the id',
  );
}

export function readBotId(text: string): Reading<string> {
  return text.trim() === ''
    ? problem('is empty; write the id of the bot ("botsync init" offers the bots of a workspace)')
    : readId(text);
}

/** Reads the id of a webhook: one segment of a URL. */
export function readWebhookId(text: string): Reading<string> {
  return /[/?#]/u.test(text) ? problem('is an address; write only its last part, the id') : readId(text);
}

/** Reads a text that is sent in a header: printable ASCII, no space at either end. */
export function readHeaderText(text: string): Reading<string> {
  return PRINTABLE.test(text)
    ? meaning(text)
    : problem('cannot be sent in a header; write printable ASCII characters without a space at either end');
}

/**
 * Reads a reference to a secret. No message shows the text, because it may be the secret itself. `variable`: an
 * environment variable for examples.
 */
export function readSecretReference(text: string, variable = 'BOTSYNC_TOKEN'): Reading<SecretReference> {
  const [kind, rest] = splitAtColon(text);
  if (kind === 'env') {
    return /^[a-z_]\w*$/iu.test(rest) && !LOOKS_LIKE_TOKEN.test(rest)
      ? meaning({ kind, name: rest })
      : problem(
          `"env:" needs the name of an environment variable, such as "env:${variable}"; never the secret itself`,
        );
  }
  if (kind === 'file') {
    const path = readPath(rest);
    return path.kind === 'ok'
      ? meaning({ kind, path: path.value })
      : problem(`"file:" needs a path: ${path.message}`);
  }
  if (kind === 'credential') {
    return /^[\w.@-]+$/u.test(rest) && !/^\.+$/u.test(rest) && !LOOKS_LIKE_TOKEN.test(rest)
      ? meaning({ kind, name: rest })
      : problem(
          '"credential:" needs the name used in LoadCredential=, such as "credential:token"; never the secret itself',
        );
  }
  return problem(
    `do not write a secret into this file; put it into an environment variable and write "env:${variable}", or into a file and write "file:PATH" (with systemd "credential:NAME")`,
  );
}

function splitAtColon(text: string): [string, string] {
  const colon = text.indexOf(':');
  return [text.slice(0, colon), text.slice(colon + 1)];
}

/** Reads a path, without resolving it. */
export function readPath(text: string): Reading<string> {
  if (text.trim() === '') return problem('is empty; write a path');
  if (text.includes('\0')) return problem('contains a NUL character; write a path');
  const broken = brokenIn(text);
  if (broken !== null) return problem(broken);
  const [unexpanded] = LEFT_TO_A_SHELL.exec(text) ?? [];
  if (unexpanded === undefined) return meaning(text);
  // The text may be a secret in the wrong place, so it is not shown.
  const name = unexpanded.startsWith('~') ? '"~"' : /HOME/u.test(unexpanded) ? '"$HOME"' : 'a variable';
  return problem(`${name} is not expanded here; write the whole path, or one relative to this file`);
}

/**
 * The beginning of a path that a shell would expand: a home directory or a variable. For a directory that really has
 * such a name, `./` is written before it.
 */
const LEFT_TO_A_SHELL = /^(?:~[\w.-]*(?=\/|$)|\$\w+(?=\/|$)|\$\{\w+\}|%\w+%)/u;

/** Reads the path of a file, without resolving it. */
export function readFilePath(text: string): Reading<string> {
  return /\/\.{0,2}$|^\.{1,2}$/u.test(text)
    ? problem(`${quote(text)} is a directory; write the path of a file`)
    : readPath(text);
}

export function readName(text: string): Reading<string> {
  const broken = brokenIn(text);
  if (broken !== null) return problem(`${quote(text)} cannot be a name, because it ${broken}`);
  return text === '' || text !== text.trim() || CONTROL.test(text)
    ? problem(
        `${quote(text)} cannot be a name; write one without control characters and without a space at either end`,
      )
    : meaning(text);
}

export function readKeyPrefix(text: string): Reading<string> {
  if (CONTROL.test(text)) return problem(`${quote(text)} contains a control character; remove it`);
  const broken = brokenIn(text);
  if (broken !== null) return problem(`${quote(text)} ${broken}`);
  if (text.includes('\\'))
    return problem(`${quote(text)} contains a backslash; write ${quote(text.replaceAll('\\', '/'))}`);
  return text.startsWith('/')
    ? problem(
        `${quote(text)} starts with "/", which the platform would treat as part of the name; write ${quote(text.replace(/^\/+/u, ''))}`,
      )
    : meaning(text);
}

export function readPattern(text: string): Reading<string> {
  if (text.trim() === '')
    return problem('is empty; write a pattern such as "**/*.pdf", or "**" for every file');
  if (text.endsWith('/'))
    return problem(`${quote(text)} matches no file, because it ends with "/"; write ${quote(`${text}**`)}`);
  try {
    compilePattern(text);
  } catch (error) {
    if (error instanceof PatternError) return problem(`${quote(text)} ${error.message}`);
    throw error;
  }
  return meaning(text);
}

export function readIgnorePattern(text: string): Reading<string> {
  if (text.trim() === '')
    return problem('is empty; write a pattern such as "drafts/" or "*.tmp", or remove it');
  const reason = problemOfIgnorePattern(text);
  return reason === null ? meaning(text) : problem(`${quote(text)} ${reason}`);
}

/** Reads a time with its zone, in epoch milliseconds. */
export function readMoment(text: string): Reading<number> {
  const isMoment = (candidate: string): boolean =>
    z.iso.datetime({ offset: true }).safeParse(candidate).success;
  if (isMoment(text)) return meaning(Date.parse(text));
  const guess = [
    `${text}Z`,
    `${text}:00Z`,
    `${text}T00:00:00Z`,
    text.replace(' ', 'T'),
    `${text.replace(' ', 'T')}Z`,
    text.replace(/(?<=T\d\d:\d\d)(?=Z|[+-]\d\d:\d\d$)/u, ':00'),
  ].find(isMoment);
  return problem(
    `${quote(text)} is not a moment; write ${guess === undefined ? 'one with its zone, such as "2026-12-31T00:00:00Z"' : `"${guess}"`}`,
  );
}

/** Reads a tag's value (platform-facts.md, Files: at most 1,000 characters). */
export function readTagValue(text: string): Reading<string> {
  return charactersOf(text) > LONGEST_TAG_VALUE
    ? problem(
        `has ${charactersOf(text).toLocaleString('en')} characters; a tag's value has at most 1,000 (metadata takes longer ones)`,
      )
    : meaning(text);
}

/** Reads the name of a channel (interface.md, Limits: channel length). */
export function readChannel(text: string): Reading<string> {
  if (text.trim() === '') return problem('is empty; write the name of a channel of the integration');
  return charactersOf(text) > LONGEST_NAME
    ? problem(`has ${charactersOf(text)} characters; a channel's name has at most ${LONGEST_NAME}`)
    : meaning(text);
}

/** Reads the name or version of an integration: one segment of a URL. */
export function readIntegrationPart(text: string): Reading<string> {
  return /^\.{0,2}$|\p{Surrogate}/u.test(text)
    ? problem(
        `${quote(text)} is not the name or version of an integration; write for example "webchat" or "latest"`,
      )
    : meaning(text);
}

/** Checks the interval of summaries, in milliseconds: not more often than anybody would read them. */
export function readSummaryInterval(durationMs: number): Reading<number> {
  return durationMs < 60_000
    ? problem(`"${formatDuration(durationMs)}" is too often; write at least "1m"`)
    : meaning(durationMs);
}

export function readContentType(text: string): Reading<string> {
  return /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+(?: *; *[\w-]+=(?:[\w!#$&^.+-]+|"[\x20\x21\x23-\x7e]*"))*$/u.test(text)
    ? meaning(text)
    : problem(`${quote(text)} is not a content type; write for example "text/markdown"`);
}

/** Reads a file name extension, in lower case and without its dot. */
export function readExtension(text: string): Reading<string> {
  const extension = text.replace(/^\*?\./u, '').toLowerCase();
  return /^[^\s/.*]+$/u.test(extension)
    ? meaning(extension)
    : problem(`${quote(text)} is not an extension; write for example "pdf"`);
}

/** The longest duration for a timer: a longer one would overflow it and fire immediately. */
export const LONGEST_TIMER_MS = 24 * 86_400_000;

/** Checks a duration for a timer. */
export function readTimer(durationMs: number, leastMs = 1, mostMs = LONGEST_TIMER_MS): Reading<number> {
  if (durationMs < leastMs)
    return problem(
      `"${formatDuration(durationMs)}" is too short; write at least "${formatDuration(leastMs)}"`,
    );
  return durationMs > mostMs
    ? problem(`"${formatDuration(durationMs)}" is too long; write at most "${formatDuration(mostMs)}"`)
    : meaning(durationMs);
}

/** Reads an address to listen at, `127.0.0.1:9464` or `[::1]:9464`; with port 0 the system chooses a port. */
export function readListenAddress(text: string): Reading<ListenAddress> {
  const [, inBrackets, plain] = LISTEN.exec(text) ?? [];
  const digits = /(?:^|:)(\d+)$/u.exec(text)?.[1] ?? '9464';
  const port = Number(digits);
  if (port > 65_535) return problem(`port ${digits} does not exist; write one up to 65535`);
  const host = inBrackets ?? plain ?? '';
  if (isIP(host) === (inBrackets === undefined ? 4 : 6)) return meaning({ host, port });
  return problem(`${quote(text)} is not an IP address and a port; write for example "127.0.0.1:${port}"`);
}
