// As much of S3 as rclone asks for to put objects: the content is hashed, as its ETag wants it, and not kept.
import { createHash } from 'node:crypto';

/** Answers one request below /bucket/. */
export function putObject(request, response) {
  const hash = createHash('md5');
  request.on('data', (chunk) => hash.update(chunk));
  request.on('end', () => {
    response.setHeader('etag', `"${hash.digest('hex')}"`);
    response.setHeader('last-modified', new Date().toUTCString());
    response.end();
  });
}
