// Watches the directories of a tree, and nothing else, with chokidar; prints how many when it is ready.
import { watch } from 'chokidar';

const watcher = watch(process.argv[2], {
  ignored: (_path, stats) => stats?.isFile() === true,
  followSymlinks: false,
});
watcher.on('ready', () => {
  console.log(Object.keys(watcher.getWatched()).length);
  process.exit();
});
