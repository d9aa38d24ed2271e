import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { createDice } from './cli/churn.ts';

/** What takes longest: twenty seconds or more. The first two have processes of their own. */
const LONGEST = [
  'soak/daemon-soak',
  'browser/many-files',
  'cluster/outages',
  'cluster/takeover',
  'cluster/late',
  'cluster/notifications',
  'crash/kills',
  'faults/wire',
  'cli/notify',
  'browser/daemon-page',
  'faults/status',
  'cli/confirm',
  'browser/pictures',
  'state-file/damaged',
  'cli/sync',
  'cli/verify',
  'recorded/passes',
  'cli/daemon',
  'faults/questions',
  'crash/power-cut',
  'faults/patience',
  'torn/once',
  'faults/binary',
  'crash/operations',
  'cluster/ships',
].map((name) => `/test/${name}.test.ts`);

/** Files of one project share processes, which end when a file of another project is next. The shortest files come last. */
const PROJECTS = ['long-alone', 'long', 'commands', 'engine'];

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
