import type { SyncContext } from '../pass/sync-context.ts';

/** Runs loops side by side; one that throws ends the others through the context. Throws what the first threw once all have ended. */
export async function together(syncContext: SyncContext, loops: readonly Promise<void>[]): Promise<void> {
  const watched = loops.map(async (loop) => {
    try {
      await loop;
    } catch (error) {
      syncContext.fail();
      throw error;
    }
  });
  for (const loop of await Promise.allSettled(watched)) if (loop.status === 'rejected') throw loop.reason;
}
