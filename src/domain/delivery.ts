/** A file whose content the platform's store has just taken. */
export interface Delivery {
  readonly source: string;
  /** Relative to the source. */
  readonly path: string;
  readonly key: string;
  /** The number of the target in the state file. */
  readonly target: number;
  readonly sha256: Buffer;
  /** Whether everybody may read the content (interface.md, Create or update a file: `public_content`). */
  readonly isPublic: boolean;
  /** Address of the content (interface.md, File: `url`); `null` when the platform named none, or it is not public. */
  readonly publicUrl: string | null;
}
