import { escapeControls as shown } from '../domain/escape.ts';
import type { LoggedEvent } from '../domain/report.ts';
import { localTime } from '../service/logger.ts';
import { eventSentence } from './event.ts';

/** The record of a file with its times, ISO 8601; `null`: none or unknown. */
export interface FileStanding {
  readonly key: string | null;
  readonly botId: string;
  readonly platform: string;
  readonly reason: string | null;
  readonly sentAt: string | null;
  /** When the platform confirmed its final status. */
  readonly confirmedAt: string | null;
  readonly expiresAt: string | null;
  readonly renewAt: string | null;
  /** When the source was found not to have it any more. */
  readonly missingSince: string | null;
  /** When the service removes it from the platform, at the earliest. */
  readonly removeAt: string | null;
}

/** Returns what is on record of a file, then its events, as lines in local time. `span`: of the events. */
export function describeFileHistory(
  place: string,
  standing: FileStanding | null,
  events: readonly LoggedEvent[],
  span: string,
): string[] {
  if (standing === null && events.length === 0) return [`Nothing is on record of ${shown(place)}.`];
  return [
    `File:       ${shown(place)}`,
    ...(standing === null ? ['State:      not on record'] : describeStanding(standing)),
    '',
    ...(events.length === 0 ? [`In the last ${span} nothing was noted of it.`] : events.map(lineOf)),
  ];
}

function describeStanding(standing: FileStanding): string[] {
  const { key, botId, platform, reason, sentAt, confirmedAt, expiresAt, renewAt } = standing;
  const { missingSince, removeAt } = standing;
  const renewed = renewAt === null ? '' : `; renewed from ${local(renewAt)}`;
  const removed = removeAt === null ? '' : `; removed from the platform from ${local(removeAt)}`;
  return [
    `Key:        ${shown(`${key ?? ''} (bot ${botId})`)}`,
    `State:      ${platform}${reason === null ? '' : ` (${shown(reason)})`}`,
    ...(sentAt === null ? [] : [`Sent:       ${local(sentAt)}`]),
    ...(confirmedAt === null ? [] : [`Confirmed:  ${local(confirmedAt)}`]),
    ...(expiresAt === null ? [] : [`Expires:    ${local(expiresAt)}${renewed}`]),
    ...(missingSince === null ? [] : [`Missing:    since ${local(missingSince)}${removed}`]),
  ];
}

function lineOf({ atMs, event }: LoggedEvent): string {
  return `${localTime(new Date(atMs))}  ${shown(eventSentence(event))}`;
}

function local(moment: string): string {
  return localTime(new Date(moment));
}
