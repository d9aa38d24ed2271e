import type { Engine } from '../pass/engine.ts';

/** Runs loops side by side; one that throws ends the others through the engine. Throws what the first threw once all have ended. */
export async function together(engine: Engine, loops: readonly Promise<void>[]): Promise<void> {
  const watched = loops.map(async (loop) => {
    try {
      await loop;
    } catch (error) {
      engine.fail();
      throw error;
    }
  });
  for (const loop of await Promise.allSettled(watched)) if (loop.status === 'rejected') throw loop.reason;
}
