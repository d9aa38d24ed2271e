import type { FoundSource } from '../sources/source.ts';
import type { LostFile, SendAgain } from './lost-file.ts';
import { rescanPath } from './rescan-path.ts';
import type { WalkContext } from './sync-context.ts';

export function senderAgain(found: readonly FoundSource[], context: WalkContext): SendAgain {
  return async (lost) => {
    const left: LostFile[] = [];
    for (const one of lost) {
      const { source: name, path } = one.file;
      const of = found.find(({ config }) => config.name === name);
      const isRescanned = of?.kind === 'found' && (await rescanPath(of.source, path, context));
      if (!isRescanned) left.push(one);
    }
    await context.workers.idle();
    return left;
  };
}
