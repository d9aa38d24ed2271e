import { openPostgresLedger } from './postgres/open.ts';
import type { OpenedLedger, SharedLedgerOptions } from './shared-ledger.ts';

/** Opens the ledger at an address without a query yet. PostgreSQL is the only database so far: another is chosen here, by the address. */
export function openSharedLedger(address: string, options: SharedLedgerOptions): OpenedLedger {
  return openPostgresLedger(address, options);
}
