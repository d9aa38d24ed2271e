/**
 * Names that programs give to files which they are still writing and will rename, and that files which are there to stay
 * may have as well.
 */
const FORMS: readonly RegExp[] = [
  // mkstemp's six characters behind a name: rsync's `.name.XXXXXX`, and many others
  /\.(?=.*\d|.*[A-Z].*[a-z]|.*[a-z].*[A-Z])(?=.*[A-Za-z])[A-Za-z0-9]{6}$/u,
  // `mktemp`, Python, `sed -i`, git, GLib
  /^tmp\.[A-Za-z0-9]{6,}$/u,
  /^tmp[a-z0-9_]{8}$/u,
  /^sed[A-Za-z0-9]{6}$/u,
  /^tmp_[a-z]+_[A-Za-z0-9]{6}$/u,
  /^\.goutputstream-[A-Za-z0-9]{6}$/u,
  // npm's write-file-atomic
  /\.\d{9,10}$/u,
  // By it vim finds out whether it may write to a directory
  /^4913$/u,
];

/** Whether a file may be one that a program is still writing, by its path or name. What looks so need not be. */
export function looksTemporary(path: string): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1);
  return FORMS.some((form) => form.test(name));
}
