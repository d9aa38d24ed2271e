import type { FilePlatform } from '../src/domain/file-catalog.ts';

/** A platform by whose time something happens as soon as it took an upsert; it is told the how-manieth. */
export function whenUpserted(platform: FilePlatform, happen: (upserts: number) => void): FilePlatform {
  let upserts = 0;
  return {
    upsert: async (...request) => {
      const upserted = await platform.upsert(...request);
      happen((upserts += 1));
      return upserted;
    },
    upload: (...request) => platform.upload(...request),
    storeBytesPerSecond: () => platform.storeBytesPerSecond(),
    now: () => platform.now(),
    isTimeKnown: () => platform.isTimeKnown(),
  };
}
