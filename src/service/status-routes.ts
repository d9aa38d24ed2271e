/** The reports of a running daemon. If a port throws, the answer is 500 and `failed` gets the error. */
export interface StatusPorts {
  /** `reasons` are sentences without secrets. */
  readonly readiness: () => { readonly ready: boolean; readonly reasons: readonly string[] };
  readonly metrics: () => Promise<{ readonly contentType: string; readonly body: string }>;
  /** Returns a JSON value, or a promise of one. */
  readonly status: () => unknown;
  readonly failed: (error: unknown) => void;
}

/** Commands of the socket's owner to a running daemon. The results, or promises of them, are answered as JSON. */
export interface ControlPorts extends StatusPorts {
  /** Approves the halt of a source with this digest. */
  readonly approve: (source: string, halt: string) => unknown;
  /** Rescans a path of a source, or everything (`path` is `null`). */
  readonly rescan: (source: string | null, path: string | null) => unknown;
  /** Removes kept files of a source that were listed: all, or those whose path matches `glob`. */
  readonly prune: (source: string, glob: string | null, digest: string) => unknown;
  /** Pauses for this many milliseconds, or until `resume` (`null`). */
  readonly pause: (forMs: number | null) => unknown;
  readonly resume: () => unknown;
  readonly reload: () => unknown;
}

/** Header names are in lower case. */
export interface StatusAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** `target`: such as `/approve?source=docs`. */
export type StatusRoutes = (method: string, target: string) => Promise<StatusAnswer>;

/** A year, milliseconds. */
export const LONGEST_PAUSE_MS = 365 * 86_400_000;

interface Route {
  readonly method: 'GET' | 'POST';
  readonly about: string;
  readonly answer: (query: URLSearchParams) => StatusAnswer | Promise<StatusAnswer>;
}

/**
 * The routes `/healthz`, `/readyz`, `/metrics` and `/status`, and a list of them at `/`.
 *
 * @param control - adds `POST /approve?source=NAME&halt=DIGEST`, `POST /rescan`, `POST /prune`, `POST /pause`,
 * `POST /resume` and `POST /reload`; only for a listener that strangers cannot reach.
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
      about: 'approves the halt of a source (?source=NAME&halt=DIGEST)',
      answer: async (query) => {
        const [source, halt] = [query.get('source'), query.get('halt')];
        if (source === null || halt === null)
          return text(400, '/approve needs source and halt; /status has both');
        return json(await control.approve(source, halt));
      },
    });
    routes.set('/rescan', {
      method: 'POST',
      about: 'rescans a path (?source=NAME&path=PATH) or everything',
      answer: async (query) => json(await control.rescan(query.get('source'), query.get('path'))),
    });
    routes.set('/prune', {
      method: 'POST',
      about: 'removes kept files of a source (?source=NAME&digest=DIGEST&glob=GLOB)',
      answer: async (query) => {
        const [source, digest] = [query.get('source'), query.get('digest')];
        if (source === null || digest === null) return text(400, '/prune needs source and digest');
        return json(await control.prune(source, query.get('glob'), digest));
      },
    });
    routes.set('/pause', {
      method: 'POST',
      about: 'pauses until /resume, or for a time (?for=MILLISECONDS)',
      answer: async (query) => {
        const time = query.get('for');
        const forMs = time === null ? null : Number(time);
        if (forMs !== null && !(forMs >= 1 && forMs <= LONGEST_PAUSE_MS))
          return text(400, `for is a number from 1 to ${LONGEST_PAUSE_MS}`);
        return json(await control.pause(forMs));
      },
    });
    routes.set('/resume', {
      method: 'POST',
      about: 'ends a pause',
      answer: async () => json(await control.resume()),
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
