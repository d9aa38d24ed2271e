/** ASCII characters that are neither letters nor digits, in the order that the Unicode collation gives them. */
const PUNCTUATION = ' _-,;:!?.\'"()[]{}@*/\\&#%`^+<=>|~$';

/** Lower than everything that stands for a character. */
const END_OF_LEVEL = '\u0001';

/** Lower than the digits, higher than what stands for punctuation. */
const SYMBOL = '/';

/**
 * A text whose byte order is the order of keys: one of language, not of bytes, since the platform does not say which it
 * has. Letters count before accents, accents before case, small letters come first, as in the Unicode collation.
 */
export function keyOrder(key: string): string {
  let letters = '';
  let accents = '';
  let cases = '';
  for (const character of key.normalize('NFKD')) {
    if (/\p{M}/u.test(character)) {
      accents += character;
    } else if (!/\p{Cc}/u.test(character)) {
      const small = character.toLowerCase();
      letters += rankOf(small);
      accents += END_OF_LEVEL;
      cases += small === character ? '0' : '1';
    }
  }
  return [letters, accents, cases].join(END_OF_LEVEL);
}

function rankOf(character: string): string {
  const place = PUNCTUATION.indexOf(character);
  if (place !== -1) return String.fromCharCode(place + 2);
  return /[\p{P}\p{S}]/u.test(character) ? SYMBOL + character : character;
}
