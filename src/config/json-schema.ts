import * as z from 'zod';
import { configSchema } from './schema.ts';

/** The parts of a JSON Schema node that are used here. */
export interface SchemaNode {
  readonly type?: string | readonly string[];
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
  readonly pattern?: string;
  readonly writeOnly?: boolean;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly additionalProperties?: boolean | SchemaNode;
  readonly items?: SchemaNode;
  readonly anyOf?: readonly SchemaNode[];
}

let made: SchemaNode | undefined;

/**
 * Returns the JSON Schema (draft 7) of the configuration file: the content of `config.schema.json` before formatting.
 */
export function configJsonSchema(): SchemaNode {
  return (made ??= makeSchema());
}

function makeSchema(): SchemaNode {
  const schema: unknown = z.toJSONSchema(configSchema, {
    io: 'input',
    target: 'draft-7',
    // zod omits the examples of transformed values, because they might be of the result; ours are of the file.
    override: ({ zodSchema, jsonSchema }) => {
      const examples = z.globalRegistry.get(zodSchema)?.['examples'];
      if (Array.isArray(examples)) jsonSchema.examples = examples;
      delete jsonSchema.propertyNames;
    },
  });
  return schema as SchemaNode;
}

/** Returns the schema of the field at a path (names and positions); `null` if there is none. */
export function fieldSchema(root: SchemaNode, path: readonly PropertyKey[]): SchemaNode | null {
  let node: SchemaNode | null = root;
  for (const step of path) {
    if (node === null) return null;
    node =
      alternatives(node)
        .map((alternative) => child(alternative, step))
        .find((found) => found !== null) ?? null;
  }
  // The pattern of a nullable field is one level down.
  return node && alternatives(node).reduceRight<SchemaNode>((merged, one) => ({ ...merged, ...one }), {});
}

/** Returns the schema of every field of the file, by its path as in the documentation: `sources[].name`. */
export function listFields(root: SchemaNode, prefix = ''): Map<string, SchemaNode> {
  const fields = new Map<string, SchemaNode>();
  for (const node of alternatives(root)) {
    for (const [name, property] of Object.entries(node.properties ?? {})) {
      fields.set(prefix + name, property);
      for (const inner of listFields(property, `${prefix}${name}.`)) fields.set(...inner);
      for (const list of alternatives(property)) {
        for (const inner of listFields(list.items ?? {}, `${prefix}${name}[].`)) fields.set(...inner);
      }
    }
  }
  return fields;
}

function alternatives(node: SchemaNode): readonly SchemaNode[] {
  return [node, ...(node.anyOf ?? []).flatMap(alternatives)];
}

function child(node: SchemaNode, step: PropertyKey): SchemaNode | null {
  if (typeof step === 'number') return node.items ?? null;
  const { properties, additionalProperties } = node;
  const property =
    properties !== undefined && Object.hasOwn(properties, step) ? properties[String(step)] : undefined;
  return property ?? (typeof additionalProperties === 'object' ? additionalProperties : null);
}
