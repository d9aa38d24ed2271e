/** Warns once of each kind of file that is to be indexed and that the platform is not known to index. */
export class IndexWarnings {
  readonly #known: ReadonlySet<string>;
  readonly #warn: (message: string) => void;
  readonly #told = new Set<string>();

  /** @param extensions - `limits.indexableExtensions`: lower case, without a dot. */
  constructor(extensions: readonly string[], warn: (message: string) => void) {
    this.#known = new Set(extensions);
    this.#warn = warn;
  }

  /** Looks at a file that is about to be sent with `index`. */
  note(path: string): void {
    const name = path.slice(path.lastIndexOf('/') + 1);
    const dot = name.lastIndexOf('.');
    const extension = dot <= 0 ? '' : name.slice(dot + 1).toLowerCase();
    if (this.#known.has(extension) || this.#told.has(extension)) return;
    this.#told.add(extension);
    const kind = extension === '' ? 'files without an extension' : `.${extension} files`;
    this.#warn(
      `a rule says to index ${kind}, which limits.indexableExtensions does not list; they are sent anyway`,
    );
  }
}
