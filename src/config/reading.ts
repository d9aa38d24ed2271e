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

const LONGEST_QUOTE = 60;

/** Characters that JSON leaves alone and that can disturb a terminal or reorder a line. */
const UNPRINTABLE = /[\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/gu;

/** A value as a message shows it: in double quotes, without control characters, cut when it is long. Never for a secret. */
export function quote(text: string): string {
  const short = text.length > LONGEST_QUOTE ? `${text.slice(0, LONGEST_QUOTE)}…` : text;
  return JSON.stringify(short).replace(
    UNPRINTABLE,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
