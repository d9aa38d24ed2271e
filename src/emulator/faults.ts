/** The requests that a fault strikes. */
export interface FaultScope {
  /** The `name` of any operation in operations/. */
  readonly operation:
    | 'upsert'
    | 'upload'
    | 'content'
    | 'list-bots'
    | 'get-integration'
    | 'create-conversation'
    | 'create-message'
    | 'get-file'
    | 'list-files'
    | 'update-file'
    | 'delete-file'
    | 'search-files'
    | 'list-passages'
    | 'get-usage'
    | (string & {});
  /** Number of requests that it strikes; default 1, Infinity for all. */
  readonly times?: number;
  /** Number of matching requests that pass first; default 0. */
  readonly after?: number;
  /** Only requests about the file of this key. */
  readonly key?: string;
}

export type FaultAction =
  /** Answers with this status instead of running the operation. A string body is sent as it is. */
  | {
      readonly kind: 'status';
      readonly status: number;
      readonly type?: string;
      readonly message?: string;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: unknown;
    }
  /** Waits by a real timer, then continues normally. */
  | { readonly kind: 'delay'; readonly delayMs: number }
  /** Neither reads content nor answers until `clear`; then continues normally. */
  | { readonly kind: 'hang' }
  /** Runs the operation, sends the headers and half of the body, and the rest after `clear`. */
  | { readonly kind: 'hang-mid-body' }
  /** Ends the connection after this many bytes of the request body, or after its end. */
  | { readonly kind: 'cut'; readonly afterBytes: number }
  /** 200 with a body that is not JSON, without running the operation. */
  | { readonly kind: 'garbage' }
  /** Ends the connection without reading content or answering. */
  | { readonly kind: 'drop' }
  /**
   * Runs the operation, sends the headers and this many bytes of the body (at most all but one), then ends the
   * connection.
   */
  | { readonly kind: 'cut-answer'; readonly afterBytes: number }
  /** Runs the operation and sends the body in pieces. */
  | { readonly kind: 'trickle'; readonly pieces: number; readonly everyMs: number }
  /** Answers 200 before reading the content, then ends the connection; nothing is stored. */
  | { readonly kind: 'answer-then-drop' }
  /** Runs the operation, then ends the connection without an answer. */
  | { readonly kind: 'apply-then-drop' }
  /** 200 with this JSON, without running the operation. */
  | { readonly kind: 'body'; readonly body: unknown }
  /** Runs the operation and omits uploadUrl from the answer. */
  | { readonly kind: 'missing-upload-url' }
  /** Runs the operation and answers with an uploadUrl at another origin, such as `https://localhost:1`. */
  | { readonly kind: 'upload-url-at'; readonly origin: string }
  /** Runs the operation and answers with an uploadUrl that expired long ago. */
  | { readonly kind: 'expired-upload-url' }
  /** Runs the operation and adds these headers to the answer. */
  | { readonly kind: 'headers'; readonly headers: Readonly<Record<string, string>> }
  /** Redirects the client (default 307), without running the operation. */
  | { readonly kind: 'redirect'; readonly location: string; readonly status?: 301 | 302 | 303 | 307 | 308 };

export type Fault = FaultScope & FaultAction;

interface Entry {
  readonly fault: Fault;
  toSkip: number;
  timesLeft: number;
}

/** The faults still to come, in the order they were added; at most one strikes a request. */
export class Faults {
  #entries: Entry[] = [];
  #release: () => void = () => undefined;
  #released = this.#newRelease();

  add(fault: Fault): void {
    this.#entries.push({ fault, toSkip: fault.after ?? 0, timesLeft: fault.times ?? 1 });
  }

  /** Removes all faults and releases the requests that hang. */
  clear(): void {
    this.#entries = [];
    this.#release();
    this.#released = this.#newRelease();
  }

  /** `times` and `after` are the remaining numbers of each fault. */
  pending(): readonly Fault[] {
    return this.#entries.map(({ fault, toSkip, timesLeft }) => ({
      ...fault,
      times: timesLeft,
      after: toSkip,
    }));
  }

  /** Resolves at the next `clear`. */
  get released(): Promise<void> {
    return this.#released;
  }

  /** Returns the fault that strikes this request, or null. Every matching fault counts the request. */
  take(operation: string, key: string | null): FaultAction | null {
    let struck: Entry | null = null;
    for (const entry of this.#entries) {
      const { fault } = entry;
      if (fault.operation !== operation || (fault.key !== undefined && fault.key !== key)) continue;
      if (entry.toSkip > 0) entry.toSkip -= 1;
      else struck ??= entry;
    }
    if (struck === null) return null;
    struck.timesLeft -= 1;
    if (struck.timesLeft <= 0) this.#entries = this.#entries.filter((entry) => entry !== struck);
    return struck.fault;
  }

  #newRelease(): Promise<void> {
    return new Promise((resolve) => {
      this.#release = resolve;
    });
  }
}
