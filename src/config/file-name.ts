import { extname } from 'node:path';

/** Formats of configurations that botsync does not read, by extension. */
const OTHER_FORMATS = new Map([
  ['.yaml', 'YAML'],
  ['.yml', 'YAML'],
  ['.toml', 'TOML'],
  ['.ini', 'INI'],
  ['.js', 'JavaScript'],
  ['.ts', 'TypeScript'],
]);

/** The format that a file's name stands for, where it is one that botsync does not read; else `null`. */
export function otherFormat(file: string): string | null {
  return OTHER_FORMATS.get(extname(file).toLowerCase()) ?? null;
}
