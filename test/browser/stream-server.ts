import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { LIVE_SCRIPT_ELEMENT, LIVE_STATUS } from '../../src/page/live-script.ts';
import { PAGE_POLICY, STYLE_ELEMENT } from '../../src/page/frame.ts';

/** A server of one page and its stream, which the test has in its hand. */
export interface StreamServer {
  readonly address: string;
  /** The addresses of the streams that were asked for so far. */
  readonly streams: readonly string[];
  /** How many streams are open. */
  readonly open: () => number;
  /** Sends an event to every open stream. */
  readonly send: (event: string, data: string) => void;
  /** Ends every stream, and answers new ones with a status; 200 takes them again. */
  readonly refuseStreams: (status: number) => void;
  /** Everything that is asked for as a page so far. */
  readonly pages: () => number;
}

/** Serves a page whose body is `content`; `now`: what it takes for the time, epoch ms. */
export async function serveStream(content: string, now = Date.now()): Promise<StreamServer> {
  const streams: string[] = [];
  const connected = new Set<ServerResponse>();
  let status = 200;
  let pages = 0;
  const server: Server = createServer((request, response) => {
    const { url = '' } = request;
    if (!url.startsWith('/events')) {
      pages += 1;
      const headers = { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': PAGE_POLICY };
      response.writeHead(200, headers);
      response.end(`<!doctype html><html lang="en"><head><title id="title">one</title>${STYLE_ELEMENT.markup}</head>
        <body data-live="/events" data-now="${now}">${LIVE_STATUS.markup}${content}${LIVE_SCRIPT_ELEMENT.markup}</body></html>`);
      return;
    }
    streams.push(url);
    response.writeHead(status, { 'content-type': 'text/event-stream' });
    if (status !== 200) {
      response.end();
      return;
    }
    response.flushHeaders();
    connected.add(response);
    response.on('close', () => connected.delete(response));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    streams,
    open: () => connected.size,
    send: (event, data) => {
      for (const response of connected) response.write(`event: ${event}\ndata: ${data}\n\n`);
    },
    refuseStreams: (next) => {
      status = next;
      for (const response of connected) response.destroy();
    },
    pages: () => pages,
  };
}
