/**
 * Names that programs give to files while they write them and before they rename them; permanent files may have such names too.
 */
const FORMS: readonly RegExp[] = [
  // mkstemp's six characters after a name: rsync's `.name.XXXXXX`, and many others
  /\.(?=.*\d|.*[A-Z].*[a-z]|.*[a-z].*[A-Z])(?=.*[A-Za-z])[A-Za-z0-9]{6}$/u,
  // `mktemp`, Python, `sed -i`, git, GLib
  /^tmp\.[A-Za-z0-9]{6,}$/u,
  /^tmp[a-z0-9_]{8}$/u,
  /^sed[A-Za-z0-9]{6}$/u,
  /^tmp_[a-z]+_[A-Za-z0-9]{6}$/u,
  /^\.goutputstream-[A-Za-z0-9]{6}$/u,
  // npm's write-file-atomic
  /\.\d{9,10}$/u,
  // vim creates it to find out whether a directory is writable
  /^4913$/u,
];

/** Returns whether a path or name looks like a file that a program is still writing. The file may be permanent all the same. */
export function looksTemporary(path: string): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1);
  return FORMS.some((form) => form.test(name));
}
