import { countText } from '../service/amounts.ts';
import type { Failing, FailingGroup, FileGroup, Trouble } from '../domain/status.ts';
import { html, type Html } from './html.ts';
import { placeOf } from '../words/place.ts';
import { describeCause, describeRetry, KIND_WORDS } from '../words/status.ts';
import type { PageFacts, PageQuery } from './facts.ts';
import { filesAddress } from './files-query.ts';
import {
  actionButton,
  fileAddress,
  hiddenChoices,
  command,
  name,
  option,
  part,
  path,
  soon,
} from './markup.ts';
import { adviceOf, atLeast, verdictOf } from './verdict.ts';
import type { Advice } from '../words/advice.ts';

/** Limits on groups, and on the files of all groups together. */
const GROUPS_SHOWN = 25;
const FILES_SHOWN = 200;

/** Renders problems by their reason, with the time of the next retry and advice. */
export function renderNotInSync(facts: PageFacts, query: PageQuery, mayAct: boolean): Html {
  const { troubles } = facts.standing;
  const { trouble: first, advice: firstAdvice } = verdictOf(facts);
  // The verdict has that one.
  const causes = troubles.filter((one) => one.kind !== 'files').filter((one) => one !== first);
  const groups = troubles.filter((one) => one.kind === 'files');
  const all = groups.reduce((total, { files }) => total + files.length, 0);
  const matching = groups.flatMap((group) => {
    const files = group.files.filter((file) => matches(file, query));
    return files.length === 0 ? [] : [{ ...group, files }];
  });
  const found = matching.reduce((total, { files }) => total + files.length, 0);
  const some = `${atLeast(facts, 'at least ')}${countText(all, 'file')}`;
  const note = all === 0 ? '' : isFiltered(query) ? `${found} of ${some}` : some;
  const content = html`${causes.map((cause) => renderCause(cause, facts))}
  ${all === 0 ? html`` : renderFilter(facts, query)}
  ${found === 0 && all > 0 ? html`<p class="empty">No file matches this filter.</p>` : html``}
  ${renderGroups(matching, facts, { mayAct, known: firstAdvice?.text ?? null })}
  ${causes.length + groups.length > 0 ? html`` : html`<p class="empty">${troubles.length === 0 ? 'No problems.' : 'Nothing else.'}</p>`}`;
  return part('not-in-sync', 'Not in sync', note, html`<div class="card">${content}</div>`);
}

function isFiltered({ source, kind, text }: PageQuery): boolean {
  return source !== '' || kind !== '' || text !== '';
}

function matches({ source, path: file, kind, reason }: Failing, query: PageQuery): boolean {
  const text = query.text.toLowerCase();
  return (
    (query.source === '' || source === query.source) &&
    (query.kind === '' || KIND_WORDS[kind] === query.kind) &&
    (text === '' || `${placeOf(source, file)}\n${reason}`.toLowerCase().includes(text))
  );
}

function renderCause(trouble: Exclude<Trouble, FailingGroup>, facts: PageFacts): Html {
  const sentence = describeCause(trouble, facts.nowMs) ?? ofSource(trouble, facts);
  const advice = adviceOf(trouble, facts);
  return html`<div class="trouble">
    <p>${name(sentence)}</p>
    ${renderAdvice(advice, facts.commandEnd)}
  </div>`;
}

function renderAdvice({ text, command: args }: Advice, commandEnd: string): Html {
  return html`<p class="soft">${text}</p>
    ${args === null ? html`` : html`<p>${command(args, commandEnd)}</p>`}`;
}

function ofSource(trouble: Exclude<Trouble, FailingGroup>, { known }: PageFacts): string {
  if (trouble.kind !== 'halted' && trouble.kind !== 'expiring') return 'not all files were checked';
  const source = known.sources.find((one) => one.name === trouble.source);
  return trouble.kind === 'halted'
    ? `${trouble.source} is halted: ${source?.halted ?? ''}`
    : `${countText(source?.expiring ?? 0, 'file')} of ${trouble.source} could not be renewed in time`;
}

function renderFilter({ known }: PageFacts, query: PageQuery): Html {
  const { source, kind, text } = query;
  const kinds = [...new Set(Object.values(KIND_WORDS))];
  return html`<form
    class="filter"
    data-live-form
    method="get"
    action="/#not-in-sync"
    role="search"
    aria-label="Files not in sync"
  >
    ${hiddenChoices(query, ['source', 'kind', 'text'])}
    <label
      >Source
      <select name="source">
        ${option('', source, 'all')} ${known.sources.map((one) => option(one.name, source))}
      </select></label
    >
    <label
      >Kind
      <select name="kind">
        ${option('', kind, 'all')} ${kinds.map((one) => option(one, kind))}
      </select></label
    >
    <label>Contains <input type="search" name="text" value="${text}" autocomplete="off" /></label>
    <button type="submit">Filter</button>
  </form>`;
}

/** `known`: advice that the verdict has given already. */
interface Shown {
  readonly mayAct: boolean;
  readonly known: string | null;
}

function renderGroups(groups: readonly FailingGroup[], facts: PageFacts, shown: Shown): Html[] {
  let left = FILES_SHOWN;
  const first = groups.slice(0, GROUPS_SHOWN).map((group) => {
    const files = group.files.slice(0, left);
    left -= files.length;
    return renderGroup(group, files, facts, shown);
  });
  const hidden = groups.slice(GROUPS_SHOWN).reduce((total, { files }) => total + files.length, 0);
  if (hidden === 0) return first;
  return [
    ...first,
    html`<p class="trouble soft">
      … and ${countText(hidden, 'file')} with other reasons; to list them:
      ${command('ls --failed', facts.commandEnd)}
    </p>`,
  ];
}

function renderGroup(
  group: FailingGroup,
  files: readonly Failing[],
  facts: PageFacts,
  { mayAct, known }: Shown,
): Html {
  const [first] = group.files;
  if (first === undefined) return html``;
  const { nowMs, commandEnd } = facts;
  const advice = adviceOf(group, facts);
  const when =
    first.retryAt !== null && (first.retry === 'pass' || first.retry === 'ask')
      ? html`<span class="soft"
          >${first.retry === 'ask' ? 'the platform is asked again' : 'retried'}
          ${soon(Date.parse(first.retryAt), nowMs)}</span
        >`
      : html`<span class="soft">${describeRetry(first, nowMs) ?? 'waits until the source continues'}</span>`;
  return html`<details class="trouble" ${group.files.length <= 5 ? html`open` : html``}>
    <summary>
      <strong>${countText(group.files.length, 'file')} ${KIND_WORDS[first.kind]}:</strong>
      ${name(first.reason)}; ${when}
    </summary>
    <ul class="paths">
      ${files.map(
        ({ source, path: file }) =>
          html`<li>
            <a href="${fileAddress(source, file)}">${path(placeOf(source, file))}</a>
            ${mayAct ? actionButton('Retry', { kind: 'retry', source, path: file }) : html``}
          </li>`,
      )}
    </ul>
    ${renderMore(first, group.files.length - files.length)}
    ${advice.text === known ? html`` : renderAdvice(advice, commandEnd)}
  </details>`;
}

/** Leads to the list of these files, and of others in the same state. */
function renderMore({ kind, retry }: Failing, count: number): Html {
  if (count === 0) return html``;
  const state = retry === 'ask' ? 'unconfirmed' : GROUP_OF_KIND[kind];
  return html`<p class="soft">
    … and <a href="${filesAddress({ state })}">${countText(count, 'more file')}</a>
  </p>`;
}

const GROUP_OF_KIND: Readonly<Record<Failing['kind'], FileGroup>> = {
  failed: 'failed',
  sending: 'sending',
  refused: 'refused',
  refuse: 'refused',
  unsearchable: 'unsearchable',
  problem: 'problem',
  pending: 'waiting',
};
