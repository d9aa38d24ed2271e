import type * as z from 'zod';
import { clusterSchema } from './cluster-schema.ts';
import { notifySchema } from './notify-schema.ts';
import { ruleSchema } from './rule-schema.ts';
import {
  configSchema,
  platformSchema,
  removalsSchema,
  serviceSchema,
  sourceSchema,
  watchSchema,
} from './schema.ts';

/** The fields of one block that are valid, whatever is wrong with the others. Absent: missing without a default, or invalid. */
type Draft<T> = { readonly [Name in keyof T]?: T[Name] };

/** One entry of `sources`, as far as it is valid. */
type SourceDraft = Draft<z.output<typeof sourceSchema>>;

/** One entry of `rules`, as far as it is valid. */
export type RuleDraft = Draft<z.output<typeof ruleSchema>>;

/** What the cross-checks look at. Positions in the lists are those of the file. */
export interface ConfigDraft {
  readonly platform: Draft<z.output<typeof platformSchema>>;
  readonly sources: readonly SourceDraft[];
  readonly rules: readonly RuleDraft[];
  readonly watch: Draft<z.output<typeof watchSchema>>;
  readonly service: Draft<z.output<typeof serviceSchema>>;
  readonly removals: Draft<z.output<typeof removalsSchema>>;
  readonly notify: Draft<z.output<typeof notifySchema>>;
  readonly cluster: Draft<z.output<typeof clusterSchema>>;
  readonly stateFile?: string;
}

/**
 * The valid parts of a value that may be no configuration at all, so that mistakes between fields are reported
 * together with those within fields.
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
    cluster: draft(clusterSchema.shape, root['cluster']),
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
  // Each field went through the schema of its name.
  return valid as { [Name in keyof Shape]?: z.output<Shape[Name]> };
}

function asObject(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
