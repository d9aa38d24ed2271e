import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const read = (name: string): Buffer => readFileSync(join(import.meta.dirname, name));

/** A server's key and certificate for 127.0.0.1, by an authority that nobody knows and whose key is gone. For tests alone. */
export const TEST_ONLY_IDENTITY = { key: read('test-only-key.pem'), cert: read('test-only-certificate.pem') };

/** A server's key and certificate for localhost, 127.0.0.1 and ::1, which is its own authority: clients can be made to trust it. */
export const TRUSTED_IDENTITY = {
  key: read('test-only-authority-key.pem'),
  cert: read('test-only-authority.pem'),
};

/** The file of its certificate, for NODE_EXTRA_CA_CERTS. */
export const TRUSTED_CERTIFICATE_FILE = join(import.meta.dirname, 'test-only-authority.pem');
