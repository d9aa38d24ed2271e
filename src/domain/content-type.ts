import mime from 'mime-types';

const UNKNOWN = 'application/octet-stream';

/** A tree has few extensions and many files, so types are cached by extension. A full cache is cleared. */
const MOST_KNOWN = 1000;

const known = new Map<string, string>();

/** Returns the content type for a file's name, without charset; `application/octet-stream` for an unknown extension. */
export function suggestContentType(path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1);
  const dot = name.lastIndexOf('.');
  if (dot <= 0) return UNKNOWN;
  const extension = name.slice(dot + 1).toLowerCase();
  let type = known.get(extension);
  if (type === undefined) {
    type = mime.types[extension] ?? UNKNOWN;
    if (known.size >= MOST_KNOWN) known.clear();
    known.set(extension, type);
  }
  return type;
}
