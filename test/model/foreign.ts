import type { Clock } from '../../src/domain/clock.ts';
import type { FileKey } from '../../src/domain/key.ts';
import { connectTo, type World } from '../sync/world.ts';
import { BOTS, FOREIGN_PREFIX } from './observe.ts';

/** Puts files of somebody else on the platform. */
export async function plantForeignFiles(world: World, clock: Clock): Promise<void> {
  const { platform, close } = connectTo(world.emulator, world.config(), clock);
  const never = new AbortController().signal;
  for (const botId of BOTS) {
    for (const name of ['a.md', 'empty', 'b/c.txt']) {
      const bytes = Buffer.from(name === 'empty' ? '' : `somebody else's ${name}`);
      const body = {
        key: `${FOREIGN_PREFIX}${name}` as FileKey,
        size: bytes.length,
        index: false,
        tags: { owner: 'somebody else' },
        metadata: {},
        accessPolicies: [],
        contentType: 'text/plain',
      };
      const upserted = await platform.upsert(botId, body, never);
      if (upserted.kind === 'failed') throw new Error(upserted.failure.message);
      const uploaded = await platform.upload(upserted.value, { kind: 'whole', bytes }, false, never);
      if (uploaded.kind === 'failed') throw new Error(uploaded.failure.message);
    }
  }
  await close();
}
