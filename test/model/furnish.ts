import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../src/domain/clock.ts';
import type { World } from '../sync/world.ts';
import { plantForeignFiles } from './foreign.ts';
import { DIRECTORIES, Model, OUTSIDE, type ModelSettings } from './model.ts';
import { Tree } from './tree.ts';

/** Makes a new world's directories, with a model of them, configures it, and puts somebody else's files on its platform. */
export async function furnish(world: World, first: ModelSettings, clock: Clock): Promise<Model> {
  for (const top of ['more', OUTSIDE]) mkdirSync(join(world.directory, top));
  const tree = new Tree(world.directory, [...DIRECTORIES, OUTSIDE]);
  tree.write(`${OUTSIDE}/o.md`, 'outside');
  const model = new Model(tree, first, clock.now());
  world.configure(model.configFields());
  await plantForeignFiles(world, clock);
  return model;
}
