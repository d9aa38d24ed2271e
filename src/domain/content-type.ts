import mime from 'mime-types';

const UNKNOWN = 'application/octet-stream';

/** Answers by extension: a tree has few of them and many files. Begun again when it has many after all. */
const MOST_KNOWN = 1000;

const known = new Map<string, string>();

/** The content type that a file's name suggests, without charset; `application/octet-stream` when it suggests none. */
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
