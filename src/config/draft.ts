import type * as z from 'zod';
import { notifySchema } from './notify-schema.ts';
import { ruleSchema } from './rule-schema.ts';
import { configSchema, removalsSchema, serviceSchema, sourceSchema, watchSchema } from './schema.ts';
import { platformSchema } from './platform-schema.ts';

/** The valid fields of a block. A field is absent if it is invalid, or missing without a default. */
type Draft<T> = { readonly [Name in keyof T]?: T[Name] };

type SourceDraft = Draft<z.output<typeof sourceSchema>>;

export type RuleDraft = Draft<z.output<typeof ruleSchema>>;

/** The input of the cross-checks. Positions in the lists are those of the file. */
export interface ConfigDraft {
  readonly platform: Draft<z.output<typeof platformSchema>>;
  readonly sources: readonly SourceDraft[];
  readonly rules: readonly RuleDraft[];
  readonly watch: Draft<z.output<typeof watchSchema>>;
  readonly service: Draft<z.output<typeof serviceSchema>>;
  readonly removals: Draft<z.output<typeof removalsSchema>>;
  readonly notify: Draft<z.output<typeof notifySchema>>;
  readonly stateFile?: string;
}

/**
 * Returns the valid parts of a value that may not be a configuration at all, so that mistakes between fields are
 * reported together with mistakes within fields.
 */
export function draftConfig(value: unknown): ConfigDraft {
  const root = asObject(value);
  return {
    platform: draft(platformSchema.shape, root['platform']),
    sources: asList(root['sources']).map((source) => draft(sourceSchema.shape, source)),
    rules: asList(root['rules']).map((rule) => draft(ruleSchema.shape, rule)),
    watch: draft(watchSchema.shape, root['watch']),
    service: draft(serviceSchema.shape, root['service']),
    removals: draft(removalsSchema.shape, root['removals']),
    notify: draft(notifySchema.shape, root['notify']),
    ...draft({ stateFile: configSchema.shape.stateFile }, root),
  };
}

function draft<Shape extends z.ZodRawShape>(
  shape: Shape,
  value: unknown,
): { [Name in keyof Shape]?: z.output<Shape[Name]> } {
  const fields = asObject(value);
  const valid: Record<string, unknown> = {};
  for (const [name, schema] of Object.entries(shape)) {
    const parsed = (schema as z.ZodType).safeParse(Object.hasOwn(fields, name) ? fields[name] : undefined);
    if (parsed.success && parsed.data !== undefined) valid[name] = parsed.data;
  }
  // Each field was parsed by the schema of its name.
  return valid as { [Name in keyof Shape]?: z.output<Shape[Name]> };
}

function asObject(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
