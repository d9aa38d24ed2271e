import { budgetTables } from './budget-tables.ts';
import { ledgerTables } from './schema.ts';

/** The statements that make all tables of a cluster, one each, in the order in which they refer to each other. */
export function allTables(schema: string): string[] {
  return [...ledgerTables(schema), ...budgetTables(schema)];
}
