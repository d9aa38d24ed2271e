/** What a text of the config means, or what is wrong with it and what to write instead. */
export type Reading<T> =
  { readonly kind: 'ok'; readonly value: T } | { readonly kind: 'problem'; readonly message: string };

/** A text that was understood. */
export function meaning<T>(value: T): Reading<T> {
  return { kind: 'ok', value };
}

/** A text that was not understood. */
export function problem(message: string): { readonly kind: 'problem'; readonly message: string } {
  return { kind: 'problem', message };
}

/** The address of a database, password and all, may have been put into a wrong field. A password may hold any character. */
function withoutUser(text: string): string {
  const start = text.indexOf('://');
  const end = text.lastIndexOf('@');
  return start < 0 || end < start ? text : `${text.slice(0, start + 3)}…${text.slice(end)}`;
}

const LONGEST_QUOTE = 60;

/** Characters that JSON leaves alone and that can disturb a terminal or reorder a line. */
const UNPRINTABLE = /[\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/gu;

/**
 * A value as a message shows it: in double quotes, without control characters, cut when it is long, an address in it
 * without user name and password. Never for a secret.
 */
export function quote(text: string): string {
  const shown = withoutUser(text);
  const short = shown.length > LONGEST_QUOTE ? `${shown.slice(0, LONGEST_QUOTE)}…` : shown;
  return JSON.stringify(short).replace(
    UNPRINTABLE,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
