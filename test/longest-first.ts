import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { createDice } from './cli/churn.ts';

/** What takes half a minute or more when nothing else runs. */
const LONGEST = [
  'crash/kills',
  'crash/migration',
  'state-file/damaged',
  'faults/wire',
  'faults/status',
  'soak/daemon-soak',
  'recorded/passes',
  'cli/platform-commands',
  'cli/sync',
  'torn/once',
  'crash/power-cut',
  'recorded/commands',
  'state-file/commands',
  'cli/notify',
  'cli/churn',
  'faults/patience',
].map((name) => `/test/${name}.test.ts`);

/** The project `engine` comes last: its files share processes, which end when a file of another project is next. */
const PROJECTS = ['long', 'commands', 'engine'];

/** Runs the longest files first, so that none of them begins when all else is done; the others in an order drawn by the seed. */
export class LongestFirst extends BaseSequencer {
  override sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const dice = createDice(this.ctx.config.sequence.seed);
    const places = files.map((file) => ({ file, place: placeOf(file), drawn: dice.roll(2 ** 30) }));
    places.sort((a, b) => a.place - b.place || a.drawn - b.drawn);
    return Promise.resolve(places.map(({ file }) => file));
  }
}

function placeOf({ moduleId, project }: TestSpecification): number {
  const place = LONGEST.findIndex((name) => moduleId.endsWith(name));
  return place === -1 ? LONGEST.length + PROJECTS.indexOf(project.name) : place;
}
