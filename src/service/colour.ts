import { styleText } from 'node:util';

/** What a text tells, which its colour shows. */
export type Style = 'ok' | 'warning' | 'failure' | 'halted' | 'aside';

/** Gives a text the colour of a style, or leaves it as it is. Control characters of names must be escaped before. */
export type Paint = (style: Style, text: string) => string;

const FORMATS = {
  ok: 'green',
  warning: 'yellow',
  failure: 'red',
  halted: 'magenta',
  aside: 'gray',
} as const;

/** Paints in colours. */
export const inColour: Paint = (style, text) => styleText(FORMATS[style], text, { validateStream: false });

/** Paints nothing. */
export const withoutColour: Paint = (_style, text) => text;

/** What decides whether colours are used. */
export interface ColourInput {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Whether `--no-color` was given. */
  readonly isForbidden: boolean;
  readonly isTerminal: boolean;
}

/**
 * Whether to write in colours: on a terminal that has them, unless `--no-color` or NO_COLOR forbids it
 * (https://no-color.org). FORCE_COLOR asks for them elsewhere too, as some services show them.
 */
export function usesColour({ env, isForbidden, isTerminal }: ColourInput): boolean {
  if (isForbidden || isSet(env['NO_COLOR'])) return false;
  const forced = env['FORCE_COLOR'];
  if (forced !== undefined) return !['0', 'false'].includes(forced);
  return isTerminal && env['TERM'] !== 'dumb' && !isSet(env['NODE_DISABLE_COLORS']);
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== '';
}
