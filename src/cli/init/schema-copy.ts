import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SCHEMA_COPY } from '../../config/file-name.ts';

/** How a new configuration names its schema, and the copy that has to stand beside it for that; `null`: none. */
export interface SchemaPlan {
  /** `null`: there is no schema to name. */
  readonly address: string | null;
  readonly copy: { readonly file: string; readonly text: string } | null;
}

/**
 * How a configuration names the schema: by a path that exists wherever the configuration is checked out. Where botsync is
 * installed below it, as in `node_modules/`, that is its own file; else a copy beside the configuration.
 *
 * @param file - the configuration, absolute.
 */
export function planSchema(file: string): SchemaPlan {
  const schema = fileURLToPath(new URL('../../config.schema.json', import.meta.url));
  const beside = join(dirname(file), SCHEMA_COPY);
  const path = relative(dirname(file), schema);
  if (!existsSync(schema)) return { address: null, copy: null };
  if (!path.startsWith('..')) return { address: `./${path}`, copy: null };
  const isOthers = existsSync(beside) && !readFileSync(beside, 'utf8').includes('"botsync configuration"');
  if (isOthers) return { address: null, copy: null };
  return { address: `./${SCHEMA_COPY}`, copy: { file: beside, text: readFileSync(schema, 'utf8') } };
}

/** Writes the copy, if there is to be one. Throws the file system's errors. */
export function writeSchemaCopy({ copy }: SchemaPlan): void {
  if (copy !== null) writeFileSync(copy.file, copy.text, { mode: 0o644 });
}
