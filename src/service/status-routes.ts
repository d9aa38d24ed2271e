/** What a running daemon can say of itself. A port that throws is answered with 500 and told to `failed`. */
export interface StatusPorts {
  /** Whether all is in order; if not, why, in sentences without secrets. */
  readonly readiness: () => { readonly ready: boolean; readonly reasons: readonly string[] };
  /** The metrics, in the form that the content type names. */
  readonly metrics: () => Promise<{ readonly contentType: string; readonly body: string }>;
  /** Something that JSON can hold, or a promise of it. */
  readonly status: () => unknown;
  readonly failed: (error: unknown) => void;
}

/** What a running daemon does for those who reach its socket. */
export interface ControlPorts extends StatusPorts {
  /** Lets a halted source go on, `null` all of them; the result, or a promise of it, is answered as JSON. */
  readonly approve: (source: string | null) => unknown;
  /** Looks again now, at one path of a source or (`path` `null`) at everything; the result is answered as JSON. */
  readonly rescan: (source: string | null, path: string | null) => unknown;
  /** Reads the configuration again; the result, or a promise of it, is answered as JSON. */
  readonly reload: () => unknown;
}

/** An answer over HTTP, headers in lower case. */
export interface StatusAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Answers one request: a method, and a target such as `/approve?source=docs`. */
export type StatusRoutes = (method: string, target: string) => Promise<StatusAnswer>;

interface Route {
  readonly method: 'GET' | 'POST';
  readonly about: string;
  readonly answer: (query: URLSearchParams) => StatusAnswer | Promise<StatusAnswer>;
}

/**
 * The routes `/healthz`, `/readyz`, `/metrics` and `/status`, with a list of them at `/`.
 *
 * @param control - adds `POST /approve?source=NAME`, `POST /rescan` and `POST /reload`; for a listener that strangers cannot reach.
 */
export function statusRoutes(ports: StatusPorts, control: ControlPorts | null): StatusRoutes {
  const routes = new Map<string, Route>([
    ['/healthz', { method: 'GET', about: 'the daemon is alive', answer: () => text(200, 'ok') }],
    ['/readyz', { method: 'GET', about: 'all sources are ready', answer: () => readiness(ports) }],
    ['/metrics', { method: 'GET', about: 'for Prometheus', answer: async () => await metrics(ports) }],
    ['/status', { method: 'GET', about: 'status as JSON', answer: async () => json(await ports.status()) }],
  ]);
  if (control !== null) {
    routes.set('/approve', {
      method: 'POST',
      about: 'approves a halted source (?source=NAME) or all of them',
      answer: async (query) => json(await control.approve(query.get('source'))),
    });
    routes.set('/rescan', {
      method: 'POST',
      about: 'rescans a path (?source=NAME&path=PATH) or everything',
      answer: async (query) => json(await control.rescan(query.get('source'), query.get('path'))),
    });
    routes.set('/reload', {
      method: 'POST',
      about: 'reloads the configuration and its secrets',
      answer: async () => json(await control.reload()),
    });
  }
  const list = [...routes].map(([path, { method, about }]) => `${method} ${path}: ${about}`).join('\n');
  routes.set('/', { method: 'GET', about: '', answer: () => text(200, list) });

  return async (method, target) => {
    const [path = '', query = ''] = target.split('?', 2);
    const route = routes.get(path);
    if (route === undefined) return text(404, 'not found; / lists all paths');
    const allowed = route.method === 'GET' ? ['GET', 'HEAD'] : ['POST'];
    if (!allowed.includes(method)) {
      const { headers, ...rest } = text(405, `${path} takes ${allowed.join(' and ')}`);
      return { ...rest, headers: { ...headers, allow: allowed.join(', ') } };
    }
    try {
      return await route.answer(new URLSearchParams(query));
    } catch (error) {
      ports.failed(error);
      return text(500, 'internal error; see the log');
    }
  };
}

/** A plain answer, a line or more. */
export function text(status: number, lines: string): StatusAnswer {
  return { status, headers: { 'content-type': 'text/plain; charset=utf-8' }, body: `${lines}\n` };
}

function readiness(ports: StatusPorts): StatusAnswer {
  const { ready, reasons } = ports.readiness();
  return ready ? text(200, 'ready') : text(503, ['not ready', ...reasons].join('\n'));
}

async function metrics(ports: StatusPorts): Promise<StatusAnswer> {
  const { contentType, body } = await ports.metrics();
  return { status: 200, headers: { 'content-type': contentType }, body };
}

function json(value: unknown): StatusAnswer {
  return { status: 200, headers: { 'content-type': 'application/json' }, body: `${JSON.stringify(value)}\n` };
}
