import { readFileSync } from 'node:fs';
import { format, resolveConfig } from 'prettier';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { configJsonSchema } from '../../src/config/json-schema.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { parseDocument } from '../../src/config/document.ts';
import { requirePlatform } from '../../src/config/require-platform.ts';
import { expectOk } from './fixture.ts';

const example = new URL('../../config.example.json', import.meta.url).pathname;
const schemaFile = new URL('../../config.schema.json', import.meta.url).pathname;

// This is the generator as well: `npx vitest run test/config/schema-file.test.ts -u`.
test('the shipped schema is that of the source', async () => {
  const text = await format(JSON.stringify(configJsonSchema()), {
    ...(await resolveConfig(schemaFile)),
    parser: 'json',
  });
  await expect(text).toMatchFileSnapshot(schemaFile);
});

test('the shipped schema takes the shipped example and refuses an unknown field', () => {
  const schema = z.fromJSONSchema(
    JSON.parse(readFileSync(schemaFile, 'utf8')) as z.core.JSONSchema.JSONSchema,
  );
  const parsed = parseDocument(readFileSync(example, 'utf8'));
  if (parsed.kind !== 'ok') throw new Error(parsed.message);
  const value = parsed.document.value as object;
  expect(schema.safeParse(value).error).toBeUndefined();
  expect(schema.safeParse({ ...value, source: [] }).success).toBe(false);
});

test('the shipped example works as it is, and for the real platform only ids are missing', () => {
  const loaded = expectOk(loadConfig(example));
  // A checkout may be writable by its group; that is told of the file, not of its content.
  expect(loaded.warnings.filter(({ position }) => position !== null)).toEqual([]);
  expect(loaded.config.sources[0]?.directory).toMatch(/\/examples$/u);
  expect(requirePlatform(loaded, 'files').map(({ field }) => field)).toEqual(['platform.botId']);
  expect(requirePlatform(loaded, 'admin').map(({ field }) => field)).toEqual(['platform.workspaceId']);
});
