import type { AskedPause, PausedTrouble } from '../domain/status.ts';
import { counted } from './quantity.ts';

/** Returns a moment in local time: "14:00", on another day than `nowMs` "2026-11-22 14:00". */
function timeText(atMs: number, nowMs: number): string {
  const at = new Date(atMs);
  const two = (part: number): string => String(part).padStart(2, '0');
  const time = `${two(at.getHours())}:${two(at.getMinutes())}`;
  if (at.toDateString() === new Date(nowMs).toDateString()) return time;
  return `${[at.getFullYear(), two(at.getMonth() + 1), two(at.getDate())].join('-')} ${time}`;
}

/** Returns that the service is paused: "Paused until 14:00 by a command". `until`: ISO 8601. */
export function pauseTitle(until: string | null, nowMs: number): string {
  return `Paused${until === null ? '' : ` until ${timeText(Date.parse(until), nowMs)}`} by a command`;
}

/** Returns how much waits for the end of a pause. */
export function pausedText(waiting: number): string {
  return waiting === 0
    ? 'nothing waits'
    : `${counted(waiting, 'change')} ${waiting === 1 ? 'waits' : 'wait'}`;
}

/** Returns a pause as sentences with the way to end it. `commandEnd`: options that the command needs. */
export function describePause({ until, waiting }: PausedTrouble, nowMs: number, commandEnd: string): string {
  return `${pauseTitle(until, nowMs)}; ${pausedText(waiting)}. Resume with: botsync resume${commandEnd}`;
}

/** Returns the message for the log at the beginning of a pause. `untilMs`: epoch milliseconds. */
export function pauseNotice(untilMs: number | null, nowMs: number): string {
  const until = untilMs === null ? '' : ` until ${timeText(untilMs, nowMs)}`;
  return `paused${until} by a command: changes are collected, and nothing is sent, changed or removed; to resume: botsync resume`;
}

/** Returns the message for the log at the end of a pause. */
export function resumedNotice(isOver: boolean): string {
  return `${isOver ? 'the time of the pause is over' : 'a command ended the pause'}: sending what was collected`;
}

/** Returns the answer to `botsync pause`. */
export function askedPauseWords({ until }: AskedPause, nowMs: number, commandEnd: string): string {
  const resume = `botsync resume${commandEnd}`;
  const running = 'Transfers in progress are completed.';
  return until === null
    ? `Paused: changes are collected and sent after: ${resume}\n${running}`
    : `Paused until ${timeText(Date.parse(until), nowMs)}: changes are collected and sent then, or after: ${resume}\n${running}`;
}

/** Returns a warning about files that will be lost because a pause holds back renewals; `null`: none will be. */
export function pauseWarning({ until, expires }: AskedPause, nowMs: number): string | null {
  if (expires === null) return null;
  const from = timeText(Date.parse(expires), nowMs);
  const remedy = until === null ? 'resume before then' : 'resume before then, or choose a shorter time';
  return `renewals wait as well, so the first file expires on the platform at ${from}; ${remedy}`;
}
