export interface PageSource {
  /** Returns the whole HTML document for a query. `mayAsk`: the platform may be asked for it. */
  readonly document: (query: URLSearchParams, access: PageAccess, mayAsk: boolean) => Promise<string>;
  /** Returns the HTML document of a list of files; `null`: too many are being made. */
  readonly files: (query: URLSearchParams) => Promise<string | null>;
  /**
   * Returns the markup of the changing parts by element id, the same for everybody with this query. Never contains
   * the token of a session.
   */
  readonly parts: (query: URLSearchParams, mayAct: boolean) => Promise<ReadonlyMap<string, string>>;
  /** Calls back when something may have changed; returns a function that ends it. */
  readonly subscribe: (changed: () => void) => () => void;
  /** The Content-Security-Policy. */
  readonly policy: string;
}

/**
 * The rights of a visitor: `look-only` without a configured secret, `locked` before signing in, `open` afterwards. `csrfToken` is
 * in the only form, `id="control"`, of the document; the parts have buttons with `form="control"`. `notice`: the result of the
 * last action.
 */
export type PageAccess =
  | { readonly kind: 'look-only' }
  | { readonly kind: 'locked'; readonly notice: string | null }
  | { readonly kind: 'open'; readonly csrfToken: string; readonly notice: string | null };

/** `path` is relative to its source, as in the state file. */
export type PageAction =
  /** Approves the halt with this digest. */
  | { readonly kind: 'approve'; readonly source: string; readonly halt: string }
  /** `source`: `null` for all. */
  | { readonly kind: 'rescan'; readonly source: string | null }
  | { readonly kind: 'retry'; readonly source: string; readonly path: string }
  | { readonly kind: 'sign-out' };

/**
 * Returns the value of the button for an action: `action=retry&source=docs&path=a%2Fb.md`. It is plain ASCII, since
 * forms change line breaks in values, and file names may contain them.
 */
export function actionValue(action: PageAction): string {
  const { kind, ...rest } = action;
  const fields = Object.entries(rest).filter((field): field is [string, string] => field[1] !== null);
  return new URLSearchParams([['action', kind], ...fields]).toString();
}

/** Parses the value of a button; returns `null` for other values. */
export function readAction(value: string): PageAction | null {
  const fields = new URLSearchParams(value);
  const source = fields.get('source');
  const path = fields.get('path');
  const halt = fields.get('halt');
  const action = parse(fields.get('action') ?? '', { source, path, halt });
  return action !== null && actionValue(action) === value ? action : null;
}

function parse(
  kind: string,
  { source, path, halt }: Readonly<Record<'source' | 'path' | 'halt', string | null>>,
): PageAction | null {
  switch (kind) {
    case 'approve':
      return source === null || halt === null ? null : { kind, source, halt };
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
