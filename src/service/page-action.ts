/** What a visitor of the page asks for. `path` is relative to its source, as the state file has it. */
export type PageAction =
  /** Lets a halted source go on, once. */
  | { readonly kind: 'approve'; readonly source: string }
  /** Looks again now, at a source or at all of them (`null`). */
  | { readonly kind: 'rescan'; readonly source: string | null }
  /** Tries a file again. */
  | { readonly kind: 'retry'; readonly source: string; readonly path: string }
  | { readonly kind: 'sign-out' };

/**
 * The value of the button that asks for an action: `action=retry&source=docs&path=a%2Fb.md`. It is plain ASCII, since a
 * form changes line breaks in values, and names of files may have them.
 */
export function actionValue(action: PageAction): string {
  const { kind, ...rest } = action;
  const fields = Object.entries(rest).filter((field): field is [string, string] => field[1] !== null);
  return new URLSearchParams([['action', kind], ...fields]).toString();
}

/** Reads the value of a button; `null`: no button of the page has it. */
export function readAction(value: string): PageAction | null {
  const fields = new URLSearchParams(value);
  const source = fields.get('source');
  const path = fields.get('path');
  const action = parse(fields.get('action') ?? '', source, path);
  return action !== null && actionValue(action) === value ? action : null;
}

function parse(kind: string, source: string | null, path: string | null): PageAction | null {
  switch (kind) {
    case 'approve':
      return source === null ? null : { kind, source };
    case 'rescan':
      return { kind, source };
    case 'retry':
      return source === null || path === null ? null : { kind, source, path };
    case 'sign-out':
      return { kind };
    default:
      return null;
  }
}
