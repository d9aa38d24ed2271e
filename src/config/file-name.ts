import { extname } from 'node:path';

/** Formats of configurations that botsync does not read, by extension with its dot. */
export const OTHER_FORMATS = new Map([
  ['.yaml', 'YAML'],
  ['.yml', 'YAML'],
  ['.toml', 'TOML'],
  ['.ini', 'INI'],
]);

/** The format that a file's name stands for, where it is one that botsync does not read; else `null`. */
export function otherFormat(file: string): string | null {
  return OTHER_FORMATS.get(extname(file).toLowerCase()) ?? null;
}

/** What the copy of the schema that `init` writes beside a configuration is called. It is no file of a source. */
export const SCHEMA_COPY = 'botsync.config.schema.json';
