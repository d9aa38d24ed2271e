import type { Explanation } from '../domain/status.ts';
import { escapeControls } from '../domain/escape.ts';
import {
  describeAction,
  describePlatformStatus,
  describeRecordState,
  describeRules,
  DIFFERENCE_WORDS,
} from '../words/explanation.ts';
import { html, type Html } from './html.ts';
import { copyButton, moment, name, path } from './markup.ts';

/** The known facts of a file, or why there are none. */
export type FileAnswer =
  | {
      readonly kind: 'explained';
      readonly explanation: Explanation;
      /** The absolute path. */
      readonly file: string;
      /** The platform's id of the file; `null`: unknown. */
      readonly fileId: string | null;
      /** True if botsync asks the platform for the status of files. */
      readonly isAsked: boolean;
      /** The platform's current answer, or why there is none; `null`: it was not asked. */
      readonly now: string | null;
    }
  | { readonly kind: 'unknown'; readonly reason: string };

type Explained = Extract<FileAnswer, { kind: 'explained' }>;

/** @param written - the file as the visitor named it. */
export function renderFile(written: string, answer: FileAnswer, nowMs: number): Html {
  const content =
    answer.kind === 'explained'
      ? renderExplained(answer, nowMs)
      : html`<p class="empty">${name(answer.reason)}</p>`;
  return html`<section id="explained" aria-labelledby="explained-title">
    <h2 id="explained-title">
      ${path(written)} <small><a href="/">close</a> · <a href="/files">all files</a></small>
    </h2>
    <div class="card">${content}</div>
  </section>`;
}

function renderExplained({ explanation, file, fileId, isAsked, now }: Explained, nowMs: number): Html {
  const { key, botId, rules, upsert, record, action, reason, fix } = explanation;
  return html`<dl class="pad file">
      ${row('Path', html`${path(file)} ${copyButton('path', file)}`)}
      ${row('Key', html`${path(key)} ${copyButton('key', key)}`)}
      ${fileId === null ? html`` : row('File id', html`${path(fileId)} ${copyButton('id', fileId)}`)}
      ${row('Bot', path(botId))} ${row('Rules', name(describeRules(rules)))}
      ${record === null ? row('Record', html`none`) : renderRecord(record, isAsked, nowMs)}
      ${now === null ? html`` : row('Now', name(now))}
      ${row('A pass', html`${describeAction(action)} (${name(reason)})`)}
      ${fix === null ? html`` : row('Fix', name(fix))}
    </dl>
    ${
      upsert === null
        ? html``
        : html`<details class="pad">
            <summary>Request that sends it</summary>
            <pre tabindex="0">
${JSON.stringify(upsert, null, 2).split('\n').map(escapeControls).join('\n')}</pre>
          </details>`
    }`;
}

function renderRecord(record: NonNullable<Explanation['record']>, isAsked: boolean, nowMs: number): Html {
  const { state, sha256, expiresAt, failure, changedAt, differs, platform } = record;
  const { sentAt, askedAt, nextAskAt } = platform;
  const at = (label: string, iso: string | null): Html =>
    iso === null ? html`` : row(label, moment(Date.parse(iso), nowMs));
  const isKnown = state === 'synced' && isAsked;
  return html`${row('Record', html`${describeRecordState(state)}`)} ${at('Since', changedAt)}
  ${at('Sent', sentAt)} ${at('Expires', expiresAt)}
  ${failure === null ? html`` : row('Failure', name(failure))}
  ${differs === null ? html`` : row('Difference', html`${DIFFERENCE_WORDS[differs]}`)}
  ${
    isKnown
      ? html`${row('Platform', html`${describePlatformStatus(platform)}`)} ${at('Last checked', askedAt)}
        ${at('Next check', nextAskAt)}`
      : html``
  }
  ${sha256 === null ? html`` : row('SHA-256', path(sha256))}`;
}

function row(label: string, content: Html): Html {
  return html`<dt>${label}</dt>
    <dd>${content}</dd>`;
}
