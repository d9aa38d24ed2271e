import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import { actionValue, type PageAction, type PageSource } from '../../src/service/page-source.ts';
import { PageSite } from '../../src/service/page-site.ts';
import type { StatusPorts } from '../../src/service/status-routes.ts';
import { serveOnAddress, type ClientLimits, type StatusServer } from '../../src/service/status-server.ts';
import { ManualClock } from '../manual-clock.ts';

/** The secret of these sites. */
export const SECRET = 'correct horse battery staple'.replaceAll(' ', '-');

/** What a site noted. */
export interface Noted {
  readonly level: 'info' | 'warn';
  readonly message: string;
  readonly fields: object;
}

/** An answer that was read to its end. */
export interface Answer {
  readonly status: number | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** A site behind a real server, over a page that says in words what it was asked for. */
export interface SiteWorld {
  readonly clock: ManualClock;
  readonly site: PageSite;
  readonly server: StatusServer;
  /** `127.0.0.1:PORT`. */
  readonly address: string;
  readonly noted: Noted[];
  readonly failures: unknown[];
  /** What was asked of the daemon. */
  readonly acted: PageAction[];
  /** The live parts, by id; tests change them. */
  readonly parts: Map<string, string>;
  /** How often parts were made: for each the query and whether the visitor may act. */
  readonly made: string[];
  /** Who listens for changes now. */
  readonly listeners: Set<() => void>;
  /** Tells of a change. */
  readonly change: (id: string, markup: string) => void;
  readonly send: (
    method: string,
    target: string,
    headers?: Record<string, string>,
    body?: string,
  ) => Promise<Answer>;
  /** Sends a form as the browser would from our own page. */
  readonly submit: (
    target: string,
    form: Record<string, string>,
    headers?: Record<string, string>,
  ) => Promise<Answer>;
  /** Signs in; the headers with which the browser goes on, and the token of forms. */
  readonly signIn: () => Promise<Visitor>;
  /** Asks for an action as a visitor. */
  readonly ask: (visitor: Visitor, action: PageAction, target?: string) => Promise<Answer>;
}

/** Somebody who is signed in. */
export interface Visitor {
  readonly cookie: string;
  readonly csrf: string;
}

/** Makes one. `act`: what an action comes to; `limits`: see `serveOnAddress`. */
export async function createSiteWorld(
  secret: string | null = SECRET,
  act: (action: PageAction) => string | Promise<string> = ({ kind }) => `done: ${kind}`,
  limits?: ClientLimits,
): Promise<SiteWorld> {
  const clock = new ManualClock();
  const noted: Noted[] = [];
  const failures: unknown[] = [];
  const acted: PageAction[] = [];
  const parts = new Map([
    ['state', '<p>fine</p>'],
    ['events', '<li>1</li>'],
  ]);
  const made: string[] = [];
  const listeners = new Set<() => void>();
  const failed = (error: unknown): void => {
    failures.push(error);
  };
  const page: PageSource = {
    document: (query, access, mayAsk) => {
      const words = { query: query.toString(), ...access, ...(!mayAsk && { mayAsk }) };
      return Promise.resolve(`<!doctype html><pre>${JSON.stringify(words)}</pre>`);
    },
    files: (query) => Promise.resolve(query.has('busy') ? null : `<!doctype html><p>${query.toString()}</p>`),
    parts: (query, mayAct) => {
      made.push(`${mayAct ? 'act' : 'look'} ${query.toString()}`.trim());
      return Promise.resolve(new Map(parts));
    },
    subscribe: (changed) => {
      listeners.add(changed);
      return () => {
        listeners.delete(changed);
      };
    },
    policy: "default-src 'none'",
  };
  const site = new PageSite(
    page,
    {
      act: async (action) => {
        acted.push(action);
        return await act(action);
      },
      note: (level, message, fields) => {
        noted.push({ level, message, fields });
      },
      failed,
    },
    clock,
  );
  site.adopt(secret);
  const ports: StatusPorts = {
    readiness: () => ({ ready: true, reasons: [] }),
    metrics: () => Promise.resolve({ contentType: 'text/plain', body: 'up 1\n' }),
    status: () => ({}),
    failed,
  };
  const attempt = await serveOnAddress({ host: '127.0.0.1', port: 0 }, ports, site, limits);
  if (attempt.kind === 'failed') throw new Error(attempt.reason);
  const { server } = attempt;
  onTestFinished(async () => {
    await server.close();
    site.close();
  });
  const { address } = server;

  const send: SiteWorld['send'] = async (method, target, headers = {}, body) => {
    const call = request(`http://${address}${target}`, { method, headers, agent: false });
    call.end(body);
    const [response] = (await once(call, 'response')) as [IncomingMessage];
    return { status: response.statusCode, headers: response.headers, body: await text(response) };
  };
  const submit: SiteWorld['submit'] = (target, form, headers = {}) =>
    send(
      'POST',
      target,
      {
        origin: `http://${address}`,
        'content-type': 'application/x-www-form-urlencoded',
        ...headers,
      },
      new URLSearchParams(form).toString(),
    );
  const signIn: SiteWorld['signIn'] = async () => {
    const { headers } = await submit('/session', { secret: SECRET });
    const cookie = headers['set-cookie']?.[0]?.split(';')[0] ?? '';
    const { body } = await send('GET', '/', { cookie });
    return { cookie, csrf: /"csrfToken":"([^"]+)"/u.exec(body)?.[1] ?? '' };
  };
  const ask: SiteWorld['ask'] = ({ cookie, csrf }, action, target = '/control') =>
    submit(target, { csrf, action: actionValue(action) }, { cookie });
  const change = (id: string, markup: string): void => {
    parts.set(id, markup);
    for (const changed of listeners) changed();
  };
  return {
    ...{ clock, site, server, address, noted, failures, acted, parts, made, listeners },
    ...{ change, send, submit, signIn, ask },
  };
}
