/**
 * Splits a text into words as a shell does, and does nothing else that a shell does: white space and line breaks part words,
 * single and double quotes hold them together, a backslash takes the next character as it is (not within single quotes).
 *
 * @returns `{ words, problem }`; `problem` says what is wrong, or is `null`.
 */
export function splitWords(text) {
  const words = [];
  let word = null;
  let quote = null;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (character === '\\' && quote !== "'") {
      at += 1;
      if (at === text.length) return { words: [], problem: 'a backslash is the last character' };
      // A shell joins such lines.
      if (text[at] !== '\n') word = (word ?? '') + text[at];
    } else if (quote !== null) {
      if (character === quote) quote = null;
      else word += character;
    } else if (character === '"' || character === "'") {
      quote = character;
      word ??= '';
    } else if (/\s/u.test(character)) {
      if (word !== null) words.push(word);
      word = null;
    } else word = (word ?? '') + character;
  }
  if (quote !== null) return { words: [], problem: `a quote ${quote} is not closed` };
  if (word !== null) words.push(word);
  return { words, problem: null };
}
