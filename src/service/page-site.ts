import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { Clock } from '../domain/clock.ts';
import { AttemptLimit, PageSessions, type PageSession } from './page-sessions.ts';
import { readAction, type PageAction, type PageAccess, type PageSource } from './page-source.ts';
import { PageStreams } from './page-streams.ts';
import { originOf } from './request-origin.ts';
import { text, type StatusAnswer } from './status-routes.ts';

export interface SitePorts {
  /** Carries out the action of a signed-in visitor and returns its result in a sentence. */
  readonly act: (action: Exclude<PageAction, { readonly kind: 'sign-out' }>) => string | Promise<string>;
  /** Logs an action or a failed attempt with its client. `fields` never contain a secret. */
  readonly note: (level: 'info' | 'warn', message: string, fields: object) => void;
  readonly failed: (error: unknown) => void;
}

export interface SiteRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  /** The client's IP address. */
  readonly client: string;
  /** The local port. */
  readonly port: number;
  /** The body as text; `null` if it is larger than `MOST_BODY_BYTES`. */
  readonly body: () => Promise<string | null>;
}

/** A whole answer, or a stream of events that begins with these headers. */
export type SiteAnswer =
  | ({ readonly kind: 'whole' } & StatusAnswer)
  | {
      readonly kind: 'stream';
      readonly headers: Readonly<Record<string, string>>;
      readonly begin: (response: ServerResponse) => void;
    };

/** In bytes; forms of the page are much smaller. */
export const MOST_BODY_BYTES = 8192;

/** Wrong secrets, and forms of other sites. */
const FAILURES = { burst: 5, everyMs: 12_000, clients: 1000 };

const ACTIONS = { burst: 20, everyMs: 1000, clients: 1000 };

const WRONG_SECRET = 'That is not the secret that service.control names.';
const SIGNED_OUT = 'You are signed out, so nothing was done.';
const OTHER_SESSION = 'This page was from an earlier session, so nothing was done. Try again.';

/** The page at `/`, its events at `/events`, a list of files at `/files`, and its actions: `POST /session` and `POST /control`. */
export class PageSite {
  readonly #page: PageSource;
  readonly #ports: SitePorts;
  readonly #sessions: PageSessions;
  readonly #streams: PageStreams;
  readonly #failures: AttemptLimit;
  readonly #actions: AttemptLimit;
  /** `null`: the page allows no actions. */
  #secretHash: Buffer | null = null;

  constructor(page: PageSource, ports: SitePorts, clock: Clock) {
    this.#page = page;
    this.#ports = ports;
    this.#sessions = new PageSessions(clock.monotonic);
    this.#streams = new PageStreams(page, clock, ports.failed);
    this.#failures = new AttemptLimit(FAILURES, clock.monotonic);
    this.#actions = new AttemptLimit(ACTIONS, clock.monotonic);
  }

  /** Replaces the secret; `null` disables all actions. A different secret ends all sessions. */
  adopt(secret: string | null): void {
    const hash = secret === null ? null : hashOf(secret);
    const before = this.#secretHash;
    if (hash === before || (hash !== null && before?.equals(hash) === true)) return;
    this.#secretHash = hash;
    this.#sessions.endAll();
    this.#streams.accessChanged();
  }

  close(): void {
    this.#streams.close();
  }

  /** Returns `null` for paths that are not the site's. */
  async answer(request: SiteRequest): Promise<SiteAnswer | null> {
    const { method, path } = request;
    const isRead = method === 'GET' || method === 'HEAD';
    switch (path) {
      case '/':
        return isRead
          ? await this.#show(request)
          : refuse(405, '/ takes GET and HEAD', { allow: 'GET, HEAD' });
      case '/files':
        return isRead
          ? await this.#list(request)
          : refuse(405, '/files takes GET and HEAD', { allow: 'GET, HEAD' });
      case '/events':
        return isRead
          ? this.#stream(request)
          : refuse(405, '/events takes GET and HEAD', { allow: 'GET, HEAD' });
      case '/session':
      case '/control':
        if (this.#secretHash === null) return null;
        // Browsers may reload the answer to a form.
        if (isRead) return redirect(request);
        if (method !== 'POST') return refuse(405, `${path} takes POST`, { allow: 'POST' });
        return await this.#take(request);
      default:
        return null;
    }
  }

  async #show(request: SiteRequest): Promise<SiteAnswer> {
    const session = this.#sessions.use(tokenIn(request));
    const access = this.#accessOf(session, session?.notice ?? null);
    const document = await this.#document(200, request, access);
    if (session !== null && request.method === 'GET') session.notice = null;
    return document;
  }

  async #list({ query }: SiteRequest): Promise<SiteAnswer> {
    const body = await this.#page.files(query);
    return body === null
      ? refuse(503, 'too many lists are being made', { 'retry-after': '5' })
      : { kind: 'whole', status: 200, headers: this.#documentHeaders(), body };
  }

  #stream(request: SiteRequest): SiteAnswer {
    if (originOf(request.headers) === 'foreign') return refuse(403, 'only pages of this address may listen');
    if (!this.#streams.hasRoom) return refuse(503, 'too many pages are open', { 'retry-after': '60' });
    // nginx would buffer the events.
    const headers = { ...SHIELDS, 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' };
    if (request.method === 'HEAD') return { kind: 'whole', status: 200, headers, body: '' };
    const token = tokenIn(request);
    const begin = (response: ServerResponse): void => {
      this.#streams.add(response, request.query, () => this.#sessions.isOpen(token));
    };
    return { kind: 'stream', headers, begin };
  }

  async #take(request: SiteRequest): Promise<SiteAnswer> {
    const { headers, path } = request;
    if (originOf(headers) !== 'own') return refuse(403, 'only pages of this address may send forms');
    if (!/^application\/x-www-form-urlencoded(?:;|$)/iu.test(headers['content-type'] ?? ''))
      return refuse(415, 'only forms are taken');
    const body = await request.body();
    if (body === null) return refuse(413, `a form has at most ${MOST_BODY_BYTES} bytes`);
    const form = new URLSearchParams(body);
    // No await from here to the note of a failure, so that forms that arrive together are counted one by one.
    const waitMs = this.#failures.waitMs(request.client);
    if (waitMs > 0) return await this.#tooMany(request, null, waitMs);
    return await (path === '/session' ? this.#signIn(request, form) : this.#control(request, form));
  }

  async #signIn(request: SiteRequest, form: URLSearchParams): Promise<SiteAnswer> {
    const { client } = request;
    const secretHash = this.#secretHash;
    if (secretHash === null || !timingSafeEqual(hashOf(form.get('secret') ?? ''), secretHash))
      return await this.#fail(request, null, 'the page: a wrong secret', WRONG_SECRET);
    this.#ports.note('info', 'the page: signed in', { client });
    return redirect(request, cookie(request, this.#sessions.begin()));
  }

  async #control(request: SiteRequest, form: URLSearchParams): Promise<SiteAnswer> {
    const { client } = request;
    const token = tokenIn(request);
    const session = this.#sessions.use(token);
    if (token === null || session === null)
      return await this.#fail(request, null, 'the page: a form without a session', SIGNED_OUT);
    if (!timingSafeEqual(hashOf(form.get('csrf') ?? ''), hashOf(session.csrfToken)))
      return await this.#fail(request, session, 'the page: a form of another session', OTHER_SESSION);
    const action = readAction(form.get('action') ?? '');
    if (action === null) return refuse(400, 'no action of the page');
    if (action.kind === 'sign-out') {
      this.#sessions.end(token);
      this.#streams.accessChanged();
      this.#ports.note('info', 'the page: signed out', { client });
      return redirect(request, cookie(request, null));
    }
    const waitMs = this.#actions.waitMs(client);
    if (waitMs > 0) return await this.#tooMany(request, session, waitMs);
    this.#actions.note(client);
    const { kind, ...about } = action;
    const outcome = await this.#ports.act(action);
    this.#ports.note('info', `the page: ${kind}`, { ...about, outcome, client });
    session.notice = outcome;
    return redirect(request);
  }

  async #fail(
    request: SiteRequest,
    session: PageSession | null,
    message: string,
    notice: string,
  ): Promise<SiteAnswer> {
    this.#failures.note(request.client);
    this.#ports.note('warn', message, { client: request.client });
    return await this.#document(403, request, this.#accessOf(session, notice));
  }

  async #tooMany(request: SiteRequest, session: PageSession | null, waitMs: number): Promise<SiteAnswer> {
    const seconds = Math.ceil(waitMs / 1000);
    const notice = `Too many attempts; wait ${seconds} ${seconds === 1 ? 'second' : 'seconds'}. Nothing was done.`;
    return await this.#document(429, request, this.#accessOf(session, notice), {
      'retry-after': String(seconds),
    });
  }

  #accessOf(session: PageSession | null, notice: string | null): PageAccess {
    if (this.#secretHash === null) return { kind: 'look-only' };
    return session === null
      ? { kind: 'locked', notice }
      : { kind: 'open', csrfToken: session.csrfToken, notice };
  }

  async #document(
    status: number,
    { query, headers: asked }: SiteRequest,
    access: PageAccess,
    more: Readonly<Record<string, string>> = {},
  ): Promise<SiteAnswer> {
    const headers = { ...this.#documentHeaders(), ...more };
    // Any website can make its visitors load this page, again and again.
    const mayAsk = originOf(asked) !== 'foreign';
    return { kind: 'whole', status, headers, body: await this.#page.document(query, access, mayAsk) };
  }

  #documentHeaders(): Record<string, string> {
    return {
      ...SHIELDS,
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': this.#page.policy,
      'x-frame-options': 'DENY',
    };
  }
}

/** Isolates the page from others. With "no-referrer" the page's own forms would have the origin "null". */
const SHIELDS = {
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
};

function refuse(status: number, why: string, headers: Readonly<Record<string, string>> = {}): SiteAnswer {
  const answer = text(status, why);
  return { kind: 'whole', ...answer, headers: { ...answer.headers, ...headers } };
}

/** Redirects to the page with the same query. */
function redirect({ query }: SiteRequest, headers: Readonly<Record<string, string>> = {}): SiteAnswer {
  const asked = query.toString();
  const location = asked === '' ? '/' : `/?${asked}`;
  return { kind: 'whole', status: 303, headers: { ...SHIELDS, ...headers, location }, body: '' };
}

/** Cookies do not distinguish ports, and another botsync may run on this machine. */
function cookieName({ port }: SiteRequest): string {
  return `botsync-session-${port}`;
}

function cookie(request: SiteRequest, token: string | null): Record<string, string> {
  // If a proxy speaks https for us, the cookie is for https only.
  const secure = request.headers.origin?.startsWith('https:') === true ? '; Secure' : '';
  const life = token === null ? '; Max-Age=0' : '';
  const value = `${cookieName(request)}=${token ?? ''}; HttpOnly; SameSite=Strict; Path=/${secure}${life}`;
  return { 'set-cookie': value };
}

function tokenIn(request: SiteRequest): string | null {
  const begin = `${cookieName(request)}=`;
  const cookies = (request.headers.cookie ?? '').split(';').map((one) => one.trim());
  return cookies.find((one) => one.startsWith(begin))?.slice(begin.length) ?? null;
}

/** Comparing hashes takes a time that reveals nothing, for texts of any length. */
function hashOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
