import { copyFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { Dice } from '../cli/churn.ts';

// https://www.sqlite.org/fileformat2.html#the_write_ahead_log and https://www.sqlite.org/walformat.html
const LOG_HEADER_BYTES = 32;
const PAGE_SIZE_AT = 8;
const LOG_SALTS_AT = 16;
const FRAME_HEADER_BYTES = 24;
const FRAME_SALTS_AT = 8;
const SALTS_BYTES = 8;
/** In the index, native byte order: how many frames a checkpoint has begun to move. It syncs the log before that. */
const CHECKPOINT_BEGUN_AT = 128;

/** A write of the disk, bytes. */
const BLOCK_BYTES = 4096;

/** What a power cut did to the log. `whole`: nothing that was not synced is left; `torn`: some of it is, anywhere. */
export interface PowerCut {
  readonly kind: 'whole' | 'torn';
  /** How much of the log had not been synced. */
  readonly unsyncedBytes: number;
}

/**
 * Makes of a state file as a kill left it what a power cut at that moment would have left.
 *
 * Certain to be in the log are the frames that it had when it was synced last, of which `syncedLog` is a copy, and those
 * that a checkpoint has begun to move. When SQLite has begun the log anew since, only its header is: that, and before it
 * the database, SQLite has synced. Of the database's pages any mixture will do, as they come from synced frames alone.
 */
export function cutPower(file: string, syncedLog: string, dice: Dice): PowerCut {
  const log = readIfThere(`${file}-wal`);
  const isSameLog = saltsOf(log, LOG_SALTS_AT) === saltsOf(readIfThere(syncedLog), LOG_SALTS_AT);
  const synced = isSameLog ? endOfFrames(readIfThere(syncedLog)) : Math.min(log.length, LOG_HEADER_BYTES);
  const index = readIfThere(`${file}-shm`);
  const moved = index.length > CHECKPOINT_BEGUN_AT ? index.readUInt32LE(CHECKPOINT_BEGUN_AT) : 0;
  const safeBytes = Math.max(synced, Math.min(log.length, LOG_HEADER_BYTES + moved * frameBytes(log)));
  const endBytes = Math.max(safeBytes, endOfFrames(log));

  const kind = dice.roll(2) === 0 ? 'whole' : 'torn';
  if (log.length > 0) {
    const tail = kind === 'whole' ? Buffer.alloc(0) : tear(log.subarray(safeBytes, endBytes), dice);
    writeFileSync(`${file}-wal`, Buffer.concat([log.subarray(0, safeBytes), tail]));
    copyFileSync(`${file}-wal`, syncedLog);
  } else {
    rmSync(syncedLog, { force: true });
  }
  rmSync(`${file}-shm`, { force: true });
  return { kind, unsyncedBytes: endBytes - safeBytes };
}

/** Cut off anywhere, or with blocks that never reached the disk. */
function tear(tail: Buffer, dice: Dice): Buffer {
  const torn = Buffer.from(tail.subarray(0, dice.roll(tail.length + 1)));
  if (dice.roll(2) === 0) return torn;
  for (let at = 0; at < torn.length; at += BLOCK_BYTES)
    if (dice.roll(3) === 0) torn.fill(0, at, Math.min(at + BLOCK_BYTES, torn.length));
  return torn;
}

/** Where the frames end that belong to the log as it is: those behind are left of an earlier one. */
function endOfFrames(log: Buffer): number {
  const salts = saltsOf(log, LOG_SALTS_AT);
  const step = frameBytes(log);
  let end = Math.min(log.length, LOG_HEADER_BYTES);
  while (end + step <= log.length && saltsOf(log, end + FRAME_SALTS_AT) === salts) end += step;
  return end;
}

function frameBytes(log: Buffer): number {
  return FRAME_HEADER_BYTES + (log.length >= LOG_HEADER_BYTES ? log.readUInt32BE(PAGE_SIZE_AT) : 0);
}

function saltsOf(log: Buffer, at: number): string {
  return log.subarray(at, at + SALTS_BYTES).toString('hex');
}

function readIfThere(file: string): Buffer {
  return existsSync(file) ? readFileSync(file) : Buffer.alloc(0);
}
