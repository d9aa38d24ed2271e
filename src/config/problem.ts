/** A place in the file, from 1; columns count UTF-16 units, as editors do. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** Something wrong with a configuration: where, and in words what it is and what to write instead. Holds no secret. */
export interface ConfigProblem {
  /** The configuration file as it was named. */
  readonly file: string;
  /** `null` when it is about the file as a whole. */
  readonly position: Position | null;
  /** Such as `sources[0].keyPrefix`; empty for the file as a whole. */
  readonly field: string;
  readonly message: string;
}

/** Names and positions (from 0). */
export type FieldPath = readonly (string | number)[];

/** A problem or warning without its position in the file. */
export interface Finding {
  readonly severity: 'error' | 'warning';
  readonly path: FieldPath;
  /** The part of the field that is wrong: its value, its name, or its absence. */
  readonly about: 'value' | 'name' | 'absence';
  /** The offset, if the path does not determine it: of the second of two equal names. */
  readonly offset?: number;
  readonly message: string;
}

export function error(path: FieldPath, message: string, about: Finding['about'] = 'value'): Finding {
  return { severity: 'error', path, about, message };
}

export function warning(path: FieldPath, message: string): Finding {
  return { severity: 'warning', path, about: 'value', message };
}

/** Formats a field's path for messages: `sources[0].keyPrefix`, `rules[1].tags["managed by"]`. */
export function formatField(path: FieldPath): string {
  return path
    .map((step) => {
      if (typeof step === 'number') return `[${step}]`;
      return /^[\w$-]+$/u.test(step) ? `.${step}` : `[${quote(step)}]`;
    })
    .join('')
    .replace(/^\./u, '');
}

/** Formats a problem or warning as one line: `botsync.config.json:12:5: sources[0].keyPrefx: unknown field; …`. */
export function renderProblem({ file, position, field, message }: ConfigProblem): string {
  const place = position === null ? file : `${file}:${position.line}:${position.column}`;
  return [place, field, message].filter((part) => part !== '').join(': ');
}

/** The value that a text of the config means, or what is wrong with it and what to write instead. */
export type Reading<T> =
  { readonly kind: 'ok'; readonly value: T } | { readonly kind: 'problem'; readonly message: string };
export function meaning<T>(value: T): Reading<T> {
  return { kind: 'ok', value };
}

export function problem(message: string): { readonly kind: 'problem'; readonly message: string } {
  return { kind: 'problem', message };
}

/**
 * Hides user and password: the address of a database may have been written into a wrong field. A password may contain
 * any character.
 */
function withoutUser(text: string): string {
  const start = text.indexOf('://');
  const end = text.lastIndexOf('@');
  return start < 0 || end < start ? text : `${text.slice(0, start + 3)}…${text.slice(end)}`;
}

const LONGEST_QUOTE = 60;

/** Characters that JSON does not escape and that can disturb a terminal or reorder a line. */
const UNPRINTABLE = /[\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/gu;

/**
 * Formats a value for messages: in double quotes, without control characters, shortened, addresses in it without user
 * and password. Never use it for a secret.
 */
export function quote(text: string): string {
  const shown = withoutUser(text);
  const short = shown.length > LONGEST_QUOTE ? `${shown.slice(0, LONGEST_QUOTE)}…` : shown;
  return JSON.stringify(short).replace(
    UNPRINTABLE,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Formats the permission bits of a file's mode for `chmod`: `0644`. */
export function formatMode(mode: number): string {
  return (mode & 0o7777).toString(8).padStart(4, '0');
}

/** Quotes a path as one word for a shell. */
export function quoteForShell(path: string): string {
  return /^[\w./:@%+=-]+$/u.test(path) && !path.startsWith('-') ? path : `'${path.replaceAll("'", "'\\''")}'`;
}
