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
  const groups: [Group, ...Group[]] = [{ isRepeated: false, isOpen: false, isPlain: true }];
  for (let at = 0; at < pattern.length; at += 1) {
    const top = groups.at(-1) ?? groups[0];
    switch (pattern.charAt(at)) {
      case '\\':
        at += 1;
        break;
      case '(':
      case '{':
        groups.push({ isRepeated: /[*+]\($/u.test(pattern.slice(0, at + 1)), isOpen: false, isPlain: true });
        break;
      case ')':
      case '}':
        if (groups.length === 1) break;
        if (isRunaway(top, pattern[at + 1])) return true;
        groups.pop();
        close(top, groups.at(-1) ?? groups[0]);
        break;
      default:
        note(pattern.charAt(at), top);
    }
  }
  return false;
}

/** Whether a group that ends, with the character after it, matches the same in several ways. */
function isRunaway({ isRepeated, isOpen, isPlain }: Group, after: string | undefined): boolean {
  return (isRepeated && isOpen) || (!isPlain && after === '+');
}

/** What a group holds the one around it holds as well. */
function close({ isOpen }: Group, outer: Group): void {
  outer.isOpen ||= isOpen;
  outer.isPlain = false;
}

/** Takes note of a character of a group. */
function note(character: string, group: Group): void {
  if ('*+'.includes(character)) group.isOpen = true;
  if ('*+?[|,'.includes(character)) group.isPlain = false;
}
