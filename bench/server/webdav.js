// As much WebDAV as rclone asks for to copy files to an empty place: the content is hashed and not kept.
import { createHash } from 'node:crypto';

const files = new Map();

/** Answers one request below /dav/. */
export function webdav(request, response) {
  switch (request.method) {
    case 'PUT': {
      const hash = createHash('sha256');
      let size = 0;
      request.on('data', (chunk) => {
        size += chunk.length;
        hash.update(chunk);
      });
      request.on('end', () => {
        files.set(request.url, size);
        response.writeHead(201, { etag: `"${hash.digest('hex')}"` }).end();
      });
      return;
    }
    case 'PROPFIND':
      request.resume();
      if (request.url.endsWith('/')) answer(response, described(request.url, '<D:collection/>', ''));
      else if (files.has(request.url)) {
        const length = `<D:getcontentlength>${files.get(request.url)}</D:getcontentlength>`;
        answer(response, described(request.url, '', length));
      } else response.writeHead(404).end();
      return;
    default:
      request.resume();
      response.writeHead(201).end();
  }
}

function described(href, type, more) {
  const modified = `<D:getlastmodified>${new Date().toUTCString()}</D:getlastmodified>`;
  return (
    `<D:response><D:href>${href}</D:href><D:propstat><D:prop><D:resourcetype>${type}</D:resourcetype>${modified}${more}` +
    '</D:prop><D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response>'
  );
}

function answer(response, described) {
  response.writeHead(207, { 'content-type': 'application/xml' });
  response.end(`<?xml version="1.0"?><D:multistatus xmlns:D="DAV:">${described}</D:multistatus>`);
}
