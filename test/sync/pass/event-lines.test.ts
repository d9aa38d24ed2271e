import { expect, test } from 'vitest';
import { createWorld } from '../world.ts';

test('a pass and a dry run write the same fields in the same order, those of files that are not sent included', async () => {
  const world = await createWorld({
    sources: [{ directory: './docs' }, { directory: './twin' }, { directory: './gone' }],
    limits: { fileBytes: 4 },
  });
  world.write('docs/large.md', 'five!');
  world.write('docs/same.md', 'one');
  world.write('twin/same.md', 'two');
  world.write('gone/a.md', 'a');
  world.remove('gone');
  const planned = await world.plan();
  const made = await world.pass();
  const notSent = (events: readonly object[]): string[] =>
    events.map((event) => JSON.stringify(event)).filter((line) => /"(?:refuse|problem)"/u.test(line));
  expect(notSent(made.events).map((line) => Object.keys(JSON.parse(line) as object))).toEqual(
    Array.from({ length: 3 }, () => ['kind', 'source', 'path', 'key', 'reason']),
  );
  // How a halt is let through differs between the two.
  const withoutHalt = (lines: string[]): string[] => lines.filter((line) => !line.includes('halted'));
  expect(withoutHalt(notSent(made.events))).toEqual(withoutHalt(notSent(planned.events)));
});
