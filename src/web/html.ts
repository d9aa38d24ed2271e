/** Markup in which everything from outside is escaped; only the tag `html` makes it. */
export class Html {
  readonly markup: string;

  constructor(markup: string) {
    this.markup = markup;
  }
}

/** What may stand in a template. */
export type HtmlValue = string | number | Html | readonly Html[];

/** A template of markup: the text between the values is taken as it is, the values are escaped unless they are markup. */
export function html(parts: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  return new Html(parts.map((part, index) => part + escapeValue(values[index] ?? '')).join(''));
}

function escapeValue(value: HtmlValue): string {
  if (value instanceof Html) return value.markup;
  if (typeof value === 'object') return value.map(({ markup }) => markup).join('');
  return String(value).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
