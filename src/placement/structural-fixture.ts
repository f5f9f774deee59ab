import { isObject, type Json, type JsonObject } from "../protocol/json.ts";

/** The part of an OpenAPI v3 structural schema that custom resource definitions of this project use. */
export interface StructuralSchema {
  readonly type?: string;
  readonly format?: string;
  readonly properties?: Readonly<Record<string, StructuralSchema>>;
  readonly required?: readonly string[];
  readonly items?: StructuralSchema;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly minimum?: number;
  readonly "x-kubernetes-list-type"?: string;
}

/**
 * Every fault that an API server would find in the object by the schema, and every field that it would drop without a
 * word because the schema does not know it.
 */
export function structuralFaults(schema: StructuralSchema, value: Json | undefined, path = ""): string[] {
  const check = CHECKS[schema.type ?? ""];
  return check === undefined
    ? [`${path}: the schema has a type unknown here: ${schema.type}`]
    : check(schema, value, path);
}

type Check = (schema: StructuralSchema, value: Json | undefined, path: string) => string[];

const CHECKS: Readonly<Record<string, Check>> = {
  object: (schema, value, path) => (isObject(value) ? objectFaults(schema, value, path) : [`${path}: not an object`]),
  array: (schema, value, path) => (Array.isArray(value) ? listFaults(schema, value, path) : [`${path}: not a list`]),
  string: (schema, value, path) =>
    typeof value === "string" ? textFaults(schema, value).map((what) => `${path}: ${what}`) : [`${path}: not a string`],
  integer: ({ minimum = -Infinity }, value, path) =>
    Number.isInteger(value) && Number(value) >= minimum ? [] : [`${path}: not such an integer`],
  boolean: (_, value, path) => (typeof value === "boolean" ? [] : [`${path}: not a boolean`]),
};

function objectFaults(schema: StructuralSchema, value: JsonObject, path: string): string[] {
  // Like the metadata of a custom resource, which the API server checks by itself.
  if (schema.properties === undefined) return [];
  const { properties, required = [] } = schema;
  const missing = required.filter((key) => value[key] === undefined).map((key) => `${path}.${key}: missing`);
  const within = Object.entries(value).flatMap(([key, inner]) => {
    const known = properties[key];
    return known === undefined ? [`${path}.${key}: dropped`] : structuralFaults(known, inner, `${path}.${key}`);
  });
  return [...missing, ...within];
}

function listFaults(schema: StructuralSchema, value: readonly Json[], path: string): string[] {
  const isSet = schema["x-kubernetes-list-type"] === "set";
  const twice = isSet && new Set(value).size < value.length ? [`${path}: the same item twice`] : [];
  const { items = {} } = schema;
  return [...twice, ...value.flatMap((item, index) => structuralFaults(items, item, `${path}[${index}]`))];
}

function textFaults({ pattern, format, minLength = 0 }: StructuralSchema, value: string): string[] {
  const dated = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;
  return [
    ...(pattern !== undefined && !new RegExp(pattern).test(value) ? [`does not match ${pattern}`] : []),
    ...(format === "date-time" && !dated.test(value) ? ["not a date-time"] : []),
    ...(value.length < minLength ? ["too short"] : []),
  ];
}
