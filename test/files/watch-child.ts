import { systemClock } from '../../src/service/system-clock.ts';
import { TreeWatcher } from '../../src/files/watch-tree.ts';

/**
 * A process of its own that watches a directory, for what a test cannot try within its own: limits, other users, errors
 * that nobody catches. Prints what it is told as JSON Lines, first that it is ready; ends when its input does.
 */
const [root = '', whatSettledDoes = 'print'] = process.argv.slice(2);
const print = (told: unknown): void => {
  process.stdout.write(`${JSON.stringify(told)}\n`);
};

const watcher = new TreeWatcher({
  root,
  ignoresDirectory: () => false,
  settleMs: 50,
  maxDelayMs: 1000,
  clock: systemClock,
  listener: {
    settled: (paths) => {
      if (whatSettledDoes === 'throw') throw new Error('a defect of the listener');
      print({ settled: paths });
    },
    lost: (reason) => {
      print({ lost: reason });
    },
    limited: (message) => {
      print({ limited: message });
    },
  },
});
await watcher.ready;
print({ ready: watcher.watchedDirectories });
process.stdin.resume();
process.stdin.once('end', () => {
  void watcher.close().then(() => {
    print({ closed: watcher.watchedDirectories });
  });
});
