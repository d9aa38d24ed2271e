/** A pause of the service by a command. Epoch milliseconds. */
export interface Pause {
  readonly sinceMs: number;
  /** `null`: until a command ends it. */
  readonly untilMs: number | null;
}

export function isOver({ untilMs }: Pause, nowMs: number): boolean {
  return untilMs !== null && nowMs >= untilMs;
}
