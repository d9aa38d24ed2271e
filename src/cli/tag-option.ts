import { UsageError } from './usage-error.ts';

/** The tags of `--tag NAME=VALUE`, given any number of times. Throws `UsageError`. */
export function readTags(written: readonly string[]): Record<string, string> {
  const tags = new Map<string, string>();
  for (const text of written) {
    const at = text.indexOf('=');
    if (at < 1) throw new UsageError(`--tag ${text}: write NAME=VALUE`);
    const name = text.slice(0, at);
    if (tags.has(name)) throw new UsageError(`--tag ${name} is given twice`);
    tags.set(name, text.slice(at + 1));
  }
  return Object.fromEntries(tags);
}
