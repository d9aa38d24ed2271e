import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';

/** The page that made a browser send a request; `unknown` without a browser, or without a page. */
export type RequestOrigin = 'own' | 'foreign' | 'unknown';

/**
 * Determines the origin of a request, by headers that no page can set. A page is ours if its browser says so, or if
 * its origin has the requested host, with any scheme: a proxy may speak https for us, and name another host here.
 */
export function originOf(headers: IncomingHttpHeaders): RequestOrigin {
  const { origin, host } = headers;
  const site = headers['sec-fetch-site'];
  if (site === 'same-origin') return 'own';
  if (origin !== undefined && origin !== 'null') return isAt(origin, host) ? 'own' : 'foreign';
  // The page hides its origin. "same-site" includes other ports of this machine, which may be foreign.
  if (origin === 'null') return 'foreign';
  return site === undefined || site === 'none' ? 'unknown' : 'foreign';
}

function isAt(origin: string, host: string | undefined): boolean {
  if (host === undefined || !URL.canParse(origin)) return false;
  const { protocol, host: named } = new URL(origin);
  const here = `${protocol}//${host}`;
  return URL.canParse(here) && new URL(here).host === named;
}

/**
 * Returns whether a Host header names this machine by number or as localhost. Any other name may be a foreign one
 * that was made to resolve to this machine.
 */
export function namesThisMachine(host: string | undefined): boolean {
  // Only HTTP/1.0, which no browser uses, has no Host header.
  if (host === undefined) return true;
  const name = /^(?:\[(.*)\]|([^:]*))(?::\d+)?$/u.exec(host);
  const [, inBrackets, plain = ''] = name ?? [];
  return plain.toLowerCase() === 'localhost' || isIP(inBrackets ?? plain) !== 0;
}
