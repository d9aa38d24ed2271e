import { html, type Html } from '../../web/html.ts';
import { visibleName } from '../../web/visible-name.ts';
import { addressOf, type PageChoice, type PageSlice } from './page-view.ts';

/** A column of a table; of numbers the digits stand under each other, and a name may break anywhere. */
export interface Column {
  readonly label: string;
  readonly kind: 'text' | 'type' | 'number' | 'name';
}

/** A row: `key` is unique in its table. */
export interface Row {
  readonly key: string;
  readonly cells: readonly Html[];
}

/** A table that becomes a list of cards on a narrow window, or the words for none. `label`: what it is of. */
export function renderTable(
  label: string,
  columns: readonly Column[],
  rows: readonly Row[],
  empty: string,
): Html {
  if (rows.length === 0) return html`<div class="card"><p class="empty">${empty}</p></div>`;
  // The roles are those that the elements have anyway, and would lose where they are laid out as something else.
  const head = columns.map(
    ({ label: text, kind }) => html`<th role="columnheader" scope="col" class="${kind}">${text}</th>`,
  );
  const body = rows.map(
    ({ key, cells }) =>
      html`<tr role="row" data-key="${key}">
        ${cells.map((cell, index) => renderCell(columns[index], cell))}
      </tr> `,
  );
  return html`<div class="card">
    <table class="stack" role="table" aria-label="${label}">
      <thead role="rowgroup">
        <tr role="row">
          ${head}
        </tr>
      </thead>
      <tbody role="rowgroup">
        ${body}
      </tbody>
    </table>
  </div>`;
}

function renderCell(column: Column | undefined, cell: Html): Html {
  const { label = '', kind = 'text' } = column ?? {};
  const hidden = cell.markup === '' ? ' none' : '';
  // On a narrow window the label stands beside the cell's content, which has to be one element for that.
  return html`<td role="cell" class="${kind}${hidden}" data-label="${label}"><div>${cell}</div></td>`;
}

/** Links to the other stretches of a list, where there are any. */
export function renderPages(
  label: string,
  { page, pages }: PageSlice<unknown>,
  choice: (page: number) => PageChoice,
): Html {
  if (pages <= 1) return html``;
  const link = (to: number, text: string): Html =>
    to < 1 || to > pages || to === page
      ? html`<span class="soft">${text}</span>`
      : html`<a href="${addressOf(choice(to))}">${text}</a>`;
  return html`<nav class="pages" aria-label="${label}">
    ${link(1, 'First')}${link(page - 1, 'Previous')}<span>Page ${group(page)} of ${group(pages)}</span
    >${link(page + 1, 'Next')}${link(pages, 'Last')}
  </nav>`;
}

/** Tags as small labels. */
export function renderTags(tags: Readonly<Record<string, string>>): Html {
  return html`${Object.entries(tags).map(
    ([tag, value]) => html`<span class="tag">${visibleName(tag)}: ${visibleName(value)}</span>`,
  )}`;
}

/** A list of facts; those without a value are left out. */
export function renderFacts(facts: readonly (readonly [label: string, value: Html | null])[]): Html {
  return html`<dl>
    ${facts.flatMap(([label, value]) =>
      value === null
        ? []
        : [
            html`<dt>${label}</dt>
              <dd>${value}</dd>`,
          ],
    )}
  </dl>`;
}

/** A number with what is counted. */
export function count(number: number, noun: string): string {
  return `${group(number)} ${noun}${number === 1 ? '' : 's'}`;
}

/** A number with its thousands apart. */
export function group(number: number): string {
  return number.toLocaleString('en-US');
}
