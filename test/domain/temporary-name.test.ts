import { expect, test } from 'vitest';
import { looksTemporary } from '../../src/domain/temporary-name.ts';

test.each([
  ['.report.pdf.X7gk2Q', true],
  ['a/b/.report.pdf.aBcDeF', true],
  ['report.pdf.q8Zt1x', true],
  ['tmp.Xk29dkAAbc', true],
  ['tmpab12_x9q', true],
  ['sedA1b2C3', true],
  ['tmp_obj_Xa81kd', true],
  ['.goutputstream-7QKZ91', true],
  ['package.json.3141592653', true],
  ['4913', true],
  ['a.X7gk2Q/b', false],
  ['report.pdf', false],
  ['.hidden', false],
  ['data.sqlite', false],
  ['app.config', false],
  ['App.SVELTE', false],
  ['dump.202401', false],
  ['tmp.md', false],
  ['sediment', false],
  ['4913.md', false],
])('%s: %j', (path, expected) => {
  expect(looksTemporary(path)).toBe(expected);
});
