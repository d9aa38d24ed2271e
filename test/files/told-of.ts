import { watch } from 'node:fs';
import { setImmediate as turn } from 'node:timers/promises';

/**
 * Does something to an entry of a directory; resolves when all who watch the directory have been told of it, so that a
 * test can let time go by and be sure of what was known before.
 */
export async function toldOf(directory: string, name: string, act: () => void): Promise<void> {
  const watcher = watch(directory);
  try {
    const told = new Promise<void>((resolve) => {
      watcher.on('change', (_kind, entry) => {
        if (entry === name) resolve();
      });
    });
    act();
    await told;
    // The others who watch are told in the same turn.
    await turn();
  } finally {
    watcher.close();
  }
}
