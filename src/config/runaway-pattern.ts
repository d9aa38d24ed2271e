interface Group {
  /** `*(…)` or `+(…)`. */
  readonly isRepeated: boolean;
  /** Holds something of any length. */
  isOpen: boolean;
  /** Holds anything but a plain text. */
  isPlain: boolean;
}

/**
 * Whether a pattern (picomatch) may take time that doubles with every character of a name: it repeats a group, as `*(…)`,
 * `+(…)`, `(…)+` or `{…}+`, which can match the same characters in several ways. Names come from whoever writes to a
 * source. A few harmless patterns count as well.
 */
export function runsAway(pattern: string): boolean {
  const groups: Group[] = [{ isRepeated: false, isOpen: false, isPlain: true }];
  for (let at = 0; at < pattern.length; at += 1) {
    const top = groups.at(-1);
    if (top === undefined) return false;
    switch (pattern.charAt(at)) {
      case '\\':
        at += 1;
        break;
      case '(':
      case '{':
        groups.push({ isRepeated: /[*+]\($/u.test(pattern.slice(0, at + 1)), isOpen: false, isPlain: true });
        break;
      case ')':
      case '}': {
        if (groups.length === 1) break;
        if (top.isRepeated && top.isOpen) return true;
        if (!top.isPlain && pattern[at + 1] === '+') return true;
        groups.pop();
        const outer = groups.at(-1);
        if (outer === undefined) return false;
        outer.isOpen ||= top.isOpen;
        outer.isPlain = false;
        break;
      }
      case '*':
      case '+':
        top.isOpen = true;
        top.isPlain = false;
        break;
      case '?':
      case '[':
      case '|':
      case ',':
        top.isPlain = false;
        break;
    }
  }
  return false;
}
