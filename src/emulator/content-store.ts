import { randomUUID } from 'node:crypto';
import {
  createWriteStream,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { readBytes } from './request.ts';

/** Bodies up to this size are held in memory and written at once, which is several times faster than a stream. */
const IN_MEMORY_BYTES = 256 * 1024;

/** Limit on data waiting for the disk; chunks that gather in the meantime are written together. */
const WRITE_BEHIND_BYTES = 1024 * 1024;

/** The content of files: one disk file per upload, in directories named after the start of the upload id. */
export class ContentStore {
  readonly #contentDir: string;
  readonly #temporaryDir: string;
  readonly #runningMarker: string;
  readonly #knownDirs = new Set<string>();

  /** Creates the directories (mode 0700) and deletes the remains of interrupted uploads of an earlier run. */
  constructor(dataDir: string) {
    this.#contentDir = join(dataDir, 'content');
    this.#temporaryDir = join(dataDir, 'incoming');
    this.#runningMarker = join(dataDir, 'running');
    rmSync(this.#temporaryDir, { recursive: true, force: true });
    mkdirSync(this.#temporaryDir, { recursive: true, mode: 0o700 });
    mkdirSync(this.#contentDir, { recursive: true, mode: 0o700 });
  }

  /**
   * Deletes content that belongs to no file, which a process killed between its two steps leaves. Checks only if
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

  /** Marks the run as ended in order. */
  close(): void {
    rmSync(this.#runningMarker, { force: true });
  }

  /** The path of an upload's content, whether it exists or not. */
  pathOf(uploadId: string): string {
    return join(this.#contentDir, uploadId.slice(0, 2), uploadId);
  }

  /**
   * Writes a request body of a known length to a temporary file and returns its path; null if the connection ended
   * before the last byte. Memory does not grow with the length.
   */
  async receive(message: IncomingMessage, sizeBytes: number): Promise<string | null> {
    const temporaryPath = join(this.#temporaryDir, randomUUID());
    if (sizeBytes <= IN_MEMORY_BYTES) {
      const body = await readBytes(message, sizeBytes);
      if (!Buffer.isBuffer(body)) return null;
      writeFileSync(temporaryPath, body, { flag: 'wx', mode: 0o600 });
      return temporaryPath;
    }
    try {
      await pipeline(
        message,
        createWriteStream(temporaryPath, { flags: 'wx', mode: 0o600, highWaterMark: WRITE_BEHIND_BYTES }),
      );
      return temporaryPath;
    } catch (error) {
      this.discard(temporaryPath);
      if (!message.complete) return null;
      throw error;
    }
  }

  /** Moves a complete temporary file to its place. */
  keep(temporaryPath: string, uploadId: string): void {
    this.#makeDir(uploadId);
    renameSync(temporaryPath, this.pathOf(uploadId));
  }

  discard(temporaryPath: string): void {
    rmSync(temporaryPath, { force: true });
  }

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
