/** Throws unless an invariant holds; `what` says how it is broken. */
export function demand(holds: boolean, what: string): void {
  if (!holds) throw new Error(what);
}
