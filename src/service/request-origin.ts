import type { IncomingHttpHeaders } from 'node:http';

/** What made a browser send a request: a page of ours, one of somebody else, or it is not known (no browser, or a visit). */
export type RequestOrigin = 'own' | 'foreign' | 'unknown';

/**
 * Who made a request, by the headers that no page can set. A page is ours when its browser says so, or when its origin has
 * the host that the request names, by whatever scheme: a proxy may speak https for us, and name another host here.
 */
export function originOf(headers: IncomingHttpHeaders): RequestOrigin {
  const { origin, host } = headers;
  const site = headers['sec-fetch-site'];
  if (site === 'same-origin') return 'own';
  if (origin !== undefined && origin !== 'null') return isAt(origin, host) ? 'own' : 'foreign';
  // A page that hides where it comes from. Another port of this machine is "same-site", and somebody else as well.
  if (origin === 'null') return 'foreign';
  return site === undefined || site === 'none' ? 'unknown' : 'foreign';
}

function isAt(origin: string, host: string | undefined): boolean {
  if (host === undefined || !URL.canParse(origin)) return false;
  const { protocol, host: named } = new URL(origin);
  const here = `${protocol}//${host}`;
  return URL.canParse(here) && new URL(here).host === named;
}
