import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { fingerprintOf } from '../domain/fingerprint.ts';

/** A larger file is compared by its fingerprint alone. */
const LARGEST_READ_BYTES = 4_000_000n;

/** How a file was found. */
export interface FileLook {
  /** Equal for equal content; a file that is not there or cannot be read has one as well. Tells nothing of the content. */
  readonly content: string;
  /** Other whenever the file was written or replaced since. */
  readonly facts: string;
}

/** Looks at a small file. Throws nothing. */
export async function lookAtFile(path: string): Promise<FileLook> {
  try {
    // A pipe that nobody writes to must not keep us waiting.
    const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const stats = await handle.stat({ bigint: true });
      const facts = `${stats.dev} ${fingerprintOf(stats)}`;
      if (!stats.isFile()) return { content: `not a file: ${stats.mode}`, facts };
      if (stats.size > LARGEST_READ_BYTES) return { content: facts, facts };
      const content = createHash('sha256')
        .update(await handle.readFile())
        .digest('hex');
      return { content, facts };
    } finally {
      await handle.close();
    }
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown';
    return { content: code, facts: code };
  }
}
