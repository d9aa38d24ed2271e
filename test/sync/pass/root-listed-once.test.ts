import { expect, test } from 'vitest';
import { DISK, type Disk } from '../../../src/files/disk.ts';
import { createWorld } from '../world.ts';

/** The system's, with a list of the directories that were opened. */
function countingDisk(): Disk & { readonly opened: string[] } {
  const opened: string[] = [];
  return {
    ...DISK,
    opened,
    openDirectory: (path, encoding) => {
      opened.push(path);
      return DISK.openDirectory(path, encoding);
    },
  };
}

test.each([
  ['a pass of its own', false],
  ['a pass of a daemon', true],
])('%s lists each directory once', async (_what, isWatched) => {
  const world = await createWorld({ sources: ['docs', 'more'].map((name) => ({ directory: `./${name}` })) });
  world.write('docs/below/a', 'a');
  world.write('docs/b', 'b');
  world.write('more/c', 'c');
  for (let n = 0; n < 2; n++) {
    const disk = countingDisk();
    // Both sources may give the same keys, and are walked one after the other: looks have to be let into the second before its turn.
    expect(await world.pass({ disk, isWatched })).toMatchObject({ exitCode: 0 });
    const names = ['docs', 'docs/below', ...(isWatched ? ['more'] : []), 'more'];
    expect(disk.opened.sort()).toEqual(names.map((name) => world.at(name)));
  }
});
