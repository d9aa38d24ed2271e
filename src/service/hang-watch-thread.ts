// The thread that watches the main one. Built as a file of its own.
import { write } from 'node:fs';
import { workerData } from 'node:worker_threads';
import { escapeControls } from '../domain/escape.ts';
import { HangJudge, hangCheckMs } from '../domain/hang.ts';
import { pathBlockedOn } from './blocked-on.ts';
import type { HangWatchData } from './hang-watch.ts';

/** So long is waited for the last line to be written, milliseconds: standard error may be on the file system that hangs. */
const LAST_LINE_MS = 500;

const { beats, hangTimeoutMs } = workerData as HangWatchData;
const counter = new Int32Array(beats);
const judge = new HangJudge(hangTimeoutMs);
const checks = setInterval(() => {
  if (!judge.check(Atomics.load(counter, 0))) return;
  clearInterval(checks);
  endProcess();
}, hangCheckMs(hangTimeoutMs));

function endProcess(): void {
  const path = pathBlockedOn();
  const seconds = Math.round(hangTimeoutMs / 1000);
  const where = path === null ? '' : `, in a file system call on ${path}`;
  const fields = { level: 60, time: Date.now(), pid: process.pid, ...(path !== null && { path }) };
  const msg = `no progress for ${seconds} s${where}; ending the process (service.hangTimeout)`;
  setTimeout(kill, LAST_LINE_MS);
  write(2, `${escapeControls(JSON.stringify({ ...fields, msg }))}\n`, kill);
}

/** Not by `process.exit`, which ends this thread alone; no other signal is sure to be heard. */
function kill(): void {
  process.kill(process.pid, 'SIGKILL');
}
