import { isAboutCertificate } from '../../domain/failure.ts';
import type { DatabaseError } from '../shared-ledger.ts';

/** PostgreSQL's code for a missing right (https://www.postgresql.org/docs/current/errcodes-appendix.html). */
export const NO_RIGHT = '42501';

/** Classes of codes with which records are never taken: bad data, a violated constraint, a missing right. */
const NEVER_TAKEN = /^(?:22|23|42)/u;

export function isNeverTaken(code: string): boolean {
  return NEVER_TAKEN.test(code);
}

/** Returns the advice for a failure, by its code. */
export function adviceFor(kind: DatabaseError['kind'], code: string | null, message: string): string | null {
  if (kind === 'unreachable') return fixOf(code, message);
  return code === NO_RIGHT ? null : fixOfRefusal(code);
}

/** Returns the fix for a refusal, by PostgreSQL's code. */
function fixOfRefusal(code: string | null): string {
  switch (code) {
    // A missing schema, table, column or function.
    case '3F000':
    case '42P01':
    case '42703':
    case '42883':
      return 'run: botsync cluster init';
    case '3D000':
      return 'create this database, or name another one in the address';
    case '28000':
    case '28P01':
      return 'check the role and its password in the address, and that pg_hba.conf of the server lets this host in';
    case null:
    default:
      return 'the log of the database says more; check the address, the role and its rights';
  }
}

/** Returns the fix for a failed connection. */
function fixOf(code: string | null, message: string): string {
  if (code !== null && isAboutCertificate(code))
    return 'its certificate has to be valid for the host in the address, and from an authority that this machine knows or that "?sslrootcert=FILE" names';
  // node-postgres has no code for this.
  if (message.includes('does not support SSL'))
    return 'switch encryption on in PostgreSQL (ssl = on): only a socket, localhost and 127.0.0.1 do without';
  return 'check its address, and that it runs';
}
