/** Runs all steps in order, even after failures. Throws the last error. */
export async function inTurn(steps: readonly (() => Promise<void> | undefined)[]): Promise<void> {
  const [step, ...rest] = steps;
  if (step === undefined) return;
  try {
    await step();
  } finally {
    await inTurn(rest);
  }
}
