/** Runs loops concurrently. If one throws, ends the others by `fail`, and throws its error once all have ended. */
export async function together(
  others: { readonly fail: () => void },
  loops: readonly Promise<void>[],
): Promise<void> {
  const watched = loops.map(async (loop) => {
    try {
      await loop;
    } catch (error) {
      others.fail();
      throw error;
    }
  });
  for (const loop of await Promise.allSettled(watched)) if (loop.status === 'rejected') throw loop.reason;
}
