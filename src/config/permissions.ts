/** The permission bits of a file's mode as `chmod` takes them: `0644`. */
export function formatMode(mode: number): string {
  return (mode & 0o7777).toString(8).padStart(4, '0');
}

/** A path as a shell takes it in one word. */
export function quoteForShell(path: string): string {
  return /^[\w./:@%+=-]+$/u.test(path) && !path.startsWith('-') ? path : `'${path.replaceAll("'", "'\\''")}'`;
}
