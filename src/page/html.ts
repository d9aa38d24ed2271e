/** Markup that is safe to send; made by the tag `html`, which escapes everything from outside. */
export class Html {
  readonly markup: string;

  constructor(markup: string) {
    this.markup = markup;
  }
}

export type HtmlValue = string | number | Html | readonly Html[];

/** Escapes the values, except those that are markup already. */
export function html(parts: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  return new Html(parts.map((part, index) => part + escapeValue(values[index] ?? '')).join(''));
}

function escapeValue(value: HtmlValue): string {
  if (value instanceof Html) return value.markup;
  if (typeof value === 'object') return value.map(({ markup }) => markup).join('');
  return String(value).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
