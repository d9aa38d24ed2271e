import { html, type Html } from './html.ts';

/** Controls, those that reorder a line, and those that take no room: in a name they would pretend that it is another. */
const INVISIBLE =
  /([\u0000-\u001f\u007f-\u00a0\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff])/;

/** A name from outside: what cannot be seen in it is written out as `\u202e`, and it reorders nothing around it. */
export function visibleName(name: string): Html {
  const parts = name
    .split(INVISIBLE)
    .map((part, index) =>
      index % 2 === 0 ? html`${part}` : html`<span class="control">${escapeCharacter(part)}</span>`,
    );
  return html`<bdi>${parts}</bdi>`;
}

function escapeCharacter(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
