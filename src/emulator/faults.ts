/** Which requests a fault is for. */
export interface FaultScope {
  /** The `name` of an operation in operations/: these and all others. */
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
    | 'copy-file'
    | 'search-files'
    | 'list-passages'
    | 'get-usage'
    | (string & {});
  /** How many requests it hits; default 1, Infinity for all. */
  readonly times?: number;
  /** How many matching requests are let through first; default 0. */
  readonly after?: number;
  /** Only requests about the file of this key. */
  readonly key?: string;
}

/** What goes wrong. */
export type FaultAction =
  /** Answers with this status instead of carrying out the operation. A string body is sent as it is. */
  | {
      readonly kind: 'status';
      readonly status: number;
      readonly type?: string;
      readonly message?: string;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: unknown;
    }
  /** Waits by a real timer, then goes on normally. */
  | { readonly kind: 'delay'; readonly delayMs: number }
  /** Answers nothing, and reads no content, until `clear`; then goes on normally. */
  | { readonly kind: 'hang' }
  /** Carries out the operation, sends the headers and half of the body, and the rest after `clear`. */
  | { readonly kind: 'hang-mid-body' }
  /** Ends the connection once so many bytes of the request body have come (or all, when it is shorter). */
  | { readonly kind: 'cut'; readonly afterBytes: number }
  /** 200 with a body that is no JSON; nothing is carried out. */
  | { readonly kind: 'garbage' }
  /** Ends the connection without reading content or answering. */
  | { readonly kind: 'drop' }
  /** Carries out the operation, sends the headers and so many bytes of the body (at most all but one), then ends the connection. */
  | { readonly kind: 'cut-answer'; readonly afterBytes: number }
  /** Carries out the operation, and sends the body in so many pieces, each so long after the one before. */
  | { readonly kind: 'trickle'; readonly pieces: number; readonly everyMs: number }
  /** Answers 200 before reading the content, then ends the connection; nothing is stored. */
  | { readonly kind: 'answer-then-drop' }
  /** Carries out the operation, then ends the connection without an answer. */
  | { readonly kind: 'apply-then-drop' }
  /** 200 with this JSON; nothing is carried out. */
  | { readonly kind: 'body'; readonly body: unknown }
  /** Carries out the operation and leaves uploadUrl out of the answer. */
  | { readonly kind: 'missing-upload-url' }
  /** Carries out the operation and names an uploadUrl at another origin, such as `https://localhost:1`. */
  | { readonly kind: 'upload-url-at'; readonly origin: string }
  /** Carries out the operation and names an uploadUrl whose signature expired long ago. */
  | { readonly kind: 'expired-upload-url' }
  /** Carries out the operation and adds these headers to the answer. */
  | { readonly kind: 'headers'; readonly headers: Readonly<Record<string, string>> }
  /** Sends the client elsewhere (default 307); nothing is carried out. */
  | { readonly kind: 'redirect'; readonly location: string; readonly status?: 301 | 302 | 303 | 307 | 308 };

/** A scripted fault of the emulator. */
export type Fault = FaultScope & FaultAction;

interface Entry {
  readonly fault: Fault;
  toSkip: number;
  timesLeft: number;
}

/** The faults still to come, in the order they were added; a request meets at most one of them. */
export class Faults {
  #entries: Entry[] = [];
  #release: () => void = () => undefined;
  #released = this.#newRelease();

  /** Adds a fault behind those already there. */
  add(fault: Fault): void {
    this.#entries.push({ fault, toSkip: fault.after ?? 0, timesLeft: fault.times ?? 1 });
  }

  /** Forgets all faults and lets go of the requests that hang. */
  clear(): void {
    this.#entries = [];
    this.#release();
    this.#released = this.#newRelease();
  }

  /** The faults that have not struck as often as they should; `times` and `after` say what is left. */
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

  /** The fault that strikes this request, or null. Every matching fault counts the request as seen. */
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
