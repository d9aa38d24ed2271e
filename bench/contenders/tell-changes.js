// Watches a tree for bench/watching.js with what a module exports: `TreeWatcher` (ours) or `watch` (chokidar). Prints
// "ready", then each path that it tells of, relative to the root, one a line; at the end of its input the peak memory.
import { relative } from 'node:path';

const [file, root] = process.argv.slice(2);
const { TreeWatcher, systemClock, watch } = await import(file);
const print = (line) => process.stdout.write(`${line}\n`);
const ready = () => print('ready');

if (TreeWatcher !== undefined) {
  const watcher = new TreeWatcher({
    ...{ root, settleMs: 100, maxDelayMs: 2000, clock: systemClock },
    ignoresDirectory: () => false,
    listener: { settled: (paths) => paths.forEach(print), lost: () => undefined, limited: print },
  });
  void watcher.ready.then(ready);
} else {
  const watcher = watch(root, { ignoreInitial: true, followSymlinks: false });
  watcher.on('ready', ready);
  watcher.on('all', (_event, path) => print(relative(root, path)));
  watcher.on('error', () => undefined);
}

process.stdin.resume().on('end', () => {
  print(`peak ${Math.round(process.resourceUsage().maxRSS / 1024)}`);
  process.exit();
});
