import { quote } from './reading.ts';

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

/** Something in a configuration that works and is probably not meant. */
export type ConfigWarning = ConfigProblem;

/** Names and positions (from 0) that lead to a field. */
export type FieldPath = readonly (string | number)[];

/** A problem before it has a place in the file. */
export interface Finding {
  readonly severity: 'error' | 'warning';
  readonly path: FieldPath;
  /** What of the field is wrong: its value, its name, or that it is missing. */
  readonly about: 'value' | 'name' | 'absence';
  /** Where it stands when the path does not say it: the second of two equal names. */
  readonly offset?: number;
  readonly message: string;
}

/** A finding that the configuration cannot be used with. */
export function error(path: FieldPath, message: string, about: Finding['about'] = 'value'): Finding {
  return { severity: 'error', path, about, message };
}

/** A finding that is only told. */
export function warning(path: FieldPath, message: string): Finding {
  return { severity: 'warning', path, about: 'value', message };
}

/** A field's path as messages write it: `sources[0].keyPrefix`, `rules[1].tags["managed by"]`. */
export function formatField(path: FieldPath): string {
  return path
    .map((step) => {
      if (typeof step === 'number') return `[${step}]`;
      return /^[\w$-]+$/u.test(step) ? `.${step}` : `[${quote(step)}]`;
    })
    .join('')
    .replace(/^\./u, '');
}

/** A problem or warning as one line: `botsync.config.json:12:5: sources[0].keyPrefx: unknown field; …`. */
export function renderProblem({ file, position, field, message }: ConfigProblem): string {
  const place = position === null ? file : `${file}:${position.line}:${position.column}`;
  return [place, field, message].filter((part) => part !== '').join(': ');
}
