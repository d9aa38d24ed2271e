import { randomUUID } from 'node:crypto';
import {
  createWriteStream,
  existsSync,
  constants,
  copyFileSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { readBytes } from './read-bytes.ts';

/** Bodies up to this size are held in memory and written at once, which is several times faster than a stream. */
const IN_MEMORY_BYTES = 256 * 1024;

/** How much may wait for the disk: chunks that gather in the meantime are written together. */
const WRITE_BEHIND_BYTES = 1024 * 1024;

/** What came of a request body: a complete temporary file, or a connection that ended before its last byte. */
export type Received =
  { readonly kind: 'complete'; readonly temporaryPath: string } | { readonly kind: 'cut' };

/** The content of the files, one disk file an upload, in directories fanned out by the upload id. */
export class ContentStore {
  readonly #contentDir: string;
  readonly #temporaryDir: string;
  readonly #runningMarker: string;
  readonly #knownDirs = new Set<string>();

  /** Makes the directories (mode 0700) and drops what interrupted uploads of an earlier run left behind. */
  constructor(dataDir: string) {
    this.#contentDir = join(dataDir, 'content');
    this.#temporaryDir = join(dataDir, 'incoming');
    this.#runningMarker = join(dataDir, 'running');
    rmSync(this.#temporaryDir, { recursive: true, force: true });
    mkdirSync(this.#temporaryDir, { recursive: true, mode: 0o700 });
    mkdirSync(this.#contentDir, { recursive: true, mode: 0o700 });
  }

  /**
   * Removes content that belongs to no file: a process killed between its two steps leaves some. Looks only when
   * the last run did not end with `close`.
   */
  removeOrphans(isKnown: (uploadId: string) => boolean): void {
    if (existsSync(this.#runningMarker)) {
      for (const dir of readdirSync(this.#contentDir)) {
        for (const uploadId of readdirSync(join(this.#contentDir, dir))) {
          if (!isKnown(uploadId)) this.remove(uploadId);
        }
      }
    }
    writeFileSync(this.#runningMarker, '', { mode: 0o600 });
  }

  /** Notes that nothing is left half done. */
  close(): void {
    rmSync(this.#runningMarker, { force: true });
  }

  /** Where the content of an upload is, or would be. */
  pathOf(uploadId: string): string {
    return join(this.#contentDir, uploadId.slice(0, 2), uploadId);
  }

  /** Writes a request body of a known length to a temporary file; memory does not grow with the length. */
  async receive(message: IncomingMessage, sizeBytes: number): Promise<Received> {
    const temporaryPath = join(this.#temporaryDir, randomUUID());
    if (sizeBytes <= IN_MEMORY_BYTES) {
      const body = await readBytes(message, sizeBytes);
      if (body.kind !== 'complete') return { kind: 'cut' };
      writeFileSync(temporaryPath, body.bytes, { flag: 'wx', mode: 0o600 });
      return { kind: 'complete', temporaryPath };
    }
    try {
      await pipeline(
        message,
        createWriteStream(temporaryPath, { flags: 'wx', mode: 0o600, highWaterMark: WRITE_BEHIND_BYTES }),
      );
      return { kind: 'complete', temporaryPath };
    } catch (error) {
      this.discard(temporaryPath);
      if (!message.complete) return { kind: 'cut' };
      throw error;
    }
  }

  /** Makes a complete temporary file the content of an upload. */
  keep(temporaryPath: string, uploadId: string): void {
    this.#makeDir(uploadId);
    renameSync(temporaryPath, this.pathOf(uploadId));
  }

  /** Gives an upload the content of another. */
  copy(fromUploadId: string, uploadId: string): void {
    this.#makeDir(uploadId);
    copyFileSync(this.pathOf(fromUploadId), this.pathOf(uploadId), constants.COPYFILE_FICLONE);
  }

  /** Removes a temporary file. */
  discard(temporaryPath: string): void {
    rmSync(temporaryPath, { force: true });
  }

  /** Removes the content of an upload, if there is any. */
  remove(uploadId: string): void {
    rmSync(this.pathOf(uploadId), { force: true });
  }

  #makeDir(uploadId: string): void {
    const dir = uploadId.slice(0, 2);
    if (this.#knownDirs.has(dir)) return;
    mkdirSync(join(this.#contentDir, dir), { recursive: true, mode: 0o700 });
    this.#knownDirs.add(dir);
  }
}
