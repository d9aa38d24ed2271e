import type { Config, SourceConfig } from '../../config/config.ts';
import { unitsOf, type UnitSource } from '../../domain/unit.ts';
import type { SyncTarget } from '../../state/state-reader.ts';
import { targetOf } from '../../sync/sources/source.ts';

/** A unit as a configuration has it: sources that any host may work on, one host at a time. */
export interface ConfigUnit {
  readonly name: string;
  readonly target: SyncTarget;
  readonly sources: readonly SourceConfig[];
}

interface Placed extends UnitSource {
  readonly config: SourceConfig;
  readonly target: SyncTarget;
}

/** The units of a configuration; sources that are pinned to a host belong to none. */
export function unitsOfConfig(config: Config, platformName: string): ConfigUnit[] {
  const placed = config.sources
    .filter(({ host }) => host === null)
    .map((source): Placed => {
      const target = targetOf(config, source, platformName);
      const { name, keyPrefix, host } = source;
      return { name, keyPrefix, host, targetName: targetName(target), config: source, target };
    });
  return unitsOf(placed).flatMap(({ name, sources }) => {
    const [first] = sources;
    if (first === undefined) return [];
    return { name, target: first.target, sources: sources.map((one) => one.config) };
  });
}

/** What tells a target from others. */
export function targetName({ baseUrl, botId, identity }: SyncTarget): string {
  return JSON.stringify([baseUrl, botId, identity]);
}
