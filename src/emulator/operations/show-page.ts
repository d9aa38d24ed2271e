import { isIP } from 'node:net';
import { PAGE_POLICY } from '../../web/style.ts';
import type { OperationResult } from '../answer.ts';
import { aboutNoFile, type Operation } from '../operation.ts';
import { gatherView } from '../page/gather-view.ts';
import { renderPage } from '../page/render-page.ts';
import type { EmulatorRequest } from '../request.ts';

/** GET /: what is on the platform, for people. */
export const showPage: Operation = {
  name: 'page',
  method: 'GET',
  pattern: '/',
  surface: 'page',
  identify: aboutNoFile,

  answer(request, platform): OperationResult {
    const refusal = refuseOtherHost(request);
    if (refusal !== null) return refusal;
    const view = gatherView(new URLSearchParams(request.query), platform);
    return {
      kind: 'text',
      status: view.subject.kind === 'nothing' ? 404 : 200,
      body: renderPage(view),
      headers: {
        'Content-Type': 'text/html; charset=utf-8',
        'Content-Security-Policy': PAGE_POLICY,
        'Referrer-Policy': 'no-referrer',
        'X-Content-Type-Options': 'nosniff',
        'Cache-Control': 'no-store',
      },
    };
  },
};

/** A web site whose name was made to lead here must not read what is on the page: the refusal, or null. */
export function refuseOtherHost(request: EmulatorRequest): OperationResult | null {
  const host = (request.header('host') ?? '').replace(/:\d+$/, '');
  if (host === 'localhost' || isIP(host.replace(/^\[(.*)\]$/, '$1')) !== 0) return null;
  return {
    kind: 'text',
    status: 403,
    body: 'This page is only shown under localhost or an IP address.\n',
    headers: { 'Content-Type': 'text/plain; charset=utf-8' },
  };
}
