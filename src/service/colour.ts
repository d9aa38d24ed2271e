import { styleText } from 'node:util';

/** The meaning that a colour shows. */
export type Style = 'ok' | 'warning' | 'failure' | 'halted' | 'aside';

/** Colours a text. Control characters must be escaped before. */
export type Paint = (style: Style, text: string) => string;

const FORMATS = {
  ok: 'green',
  warning: 'yellow',
  failure: 'red',
  halted: 'magenta',
  aside: 'gray',
} as const;

export const inColour: Paint = (style, text) => styleText(FORMATS[style], text, { validateStream: false });

export const withoutColour: Paint = (_style, text) => text;

export interface ColourInput {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** `--no-color`. */
  readonly isForbidden: boolean;
  readonly isTerminal: boolean;
}

/**
 * Returns whether to use colours: on a terminal that supports them, unless `--no-color` or NO_COLOR forbids it
 * (https://no-color.org). FORCE_COLOR requests them elsewhere, since some services show them.
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
