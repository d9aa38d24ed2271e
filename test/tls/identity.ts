import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const read = (name: string): Buffer => readFileSync(join(import.meta.dirname, name));

/** A server's key and certificate for 127.0.0.1, by an authority that nobody knows and whose key is gone. For tests alone. */
export const TEST_ONLY_IDENTITY = { key: read('test-only-key.pem'), cert: read('test-only-certificate.pem') };

/** The key and certificate of the database of tests, for 127.0.0.1: an authority of its own, which a client may be told to trust. */
export const DATABASE_IDENTITY = {
  key: read('test-only-database-key.pem'),
  cert: read('test-only-database-certificate.pem'),
};
