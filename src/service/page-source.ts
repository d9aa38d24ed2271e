/** The page, as the server needs it. */
export interface PageSource {
  /** The whole HTML document for a query. */
  readonly document: (query: URLSearchParams, access: PageAccess) => Promise<string>;
  /**
   * Markup of the live parts, by element id, for a query; equal for all who asked the same. Never holds a token of a
   * session.
   */
  readonly parts: (query: URLSearchParams, mayAct: boolean) => Promise<ReadonlyMap<string, string>>;
  /** Calls back whenever something may have changed; returns how to stop. */
  readonly subscribe: (changed: () => void) => () => void;
  /** The Content-Security-Policy: hashes of the one style and the one script. */
  readonly policy: string;
}

/**
 * What a visitor may do: nothing is configured; a secret is asked for; signed in. `csrfToken` goes into the one form
 * `id="control"` of the document; the live parts only have buttons with `form="control"`. `notice`: what the last action
 * came to.
 */
export type PageAccess =
  | { readonly kind: 'look-only' }
  | { readonly kind: 'locked'; readonly notice: string | null }
  | { readonly kind: 'open'; readonly csrfToken: string; readonly notice: string | null };
