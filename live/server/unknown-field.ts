import { distance } from "fastest-levenshtein"
import type * as v from "valibot"

/** A schema of what a client sends: it refuses a field that it does not have. */
export type FieldsSchema = v.StrictObjectSchema<
  v.ObjectEntries,
  v.ErrorMessage<v.StrictObjectIssue> | undefined
>

/** The same, perhaps with checks, or one of several. */
export type InputSchema =
  | FieldsSchema
  | v.SchemaWithPipe<
      readonly [
        FieldsSchema,
        ...v.PipeItem<Record<string, unknown>, Record<string, unknown>, v.BaseIssue<unknown>>[],
      ]
    >
  | v.UnionSchema<FieldsSchema[], v.ErrorMessage<v.UnionIssue<v.BaseIssue<unknown>>> | undefined>

/** A field that a schema does not have, and the one that was probably meant, or all that there are. */
type UnknownField =
  | { field: string; meant: string; known?: undefined }
  | { field: string; meant?: undefined; known: readonly string[] }

/** The longest name that is compared, and that is repeated in a refusal. */
const LONGEST = 60

/** Why a schema refused `input`, if that was a field which it does not have. */
export function findUnknownField(schema: v.GenericSchema, input: unknown): UnknownField | null {
  const fields = fieldsOf(schema)
  if (!fields || typeof input !== "object" || input === null || Array.isArray(input)) return null
  for (const [given, value] of Object.entries(input)) {
    const own = fields.filter(([name]) => name === given)
    if (own.length === 0) return unknownField(given, new Set(fields.map(([name]) => name)))
    const inside = own.map(([, each]) => findUnknownField(each, value)).find((found) => found !== null)
    if (inside) return inside
  }
  return null
}

function unknownField(given: string, names: ReadonlySet<string>): UnknownField {
  const field = given.slice(0, LONGEST).toWellFormed()
  const known = [...names]
  const meant = findNearest(field, known)
  return meant === undefined ? { field, known } : { field, meant }
}

/** The sentence that refuses `input`, with the name of an unknown field if it has one. */
export function withUnknownField(sentence: string, schema: v.GenericSchema, input: unknown): string {
  const unknown = findUnknownField(schema, input)
  return unknown ? `${sentence} ${describeUnknownField(unknown)}` : sentence
}

export function describeUnknownField({ field, ...rest }: UnknownField): string {
  const more = rest.meant === undefined ? `Known: ${listed(rest.known)}.` : `Did you mean "${rest.meant}"?`
  return `Unknown field "${field}". ${more}`
}

export function listed(names: readonly string[]): string {
  return names.length === 0 ? "none" : names.join(", ")
}

/** Of a union, what any of its options has. */
function fieldsOf(schema: unknown): [name: string, schema: v.GenericSchema][] | null {
  // The options of a picklist are texts.
  if (typeof schema !== "object" || schema === null) return null
  if ("wrapped" in schema) return fieldsOf(schema.wrapped)
  if ("entries" in schema) return Object.entries(schema.entries as Record<string, v.GenericSchema>)
  if (!("options" in schema) || !Array.isArray(schema.options)) return null
  const options = schema.options.map(fieldsOf)
  return options.every((fields) => fields !== null) ? options.flat() : null
}

/** `pass` may be the beginning of one, and `expires` is as near to `expiresAt` as a slip of the pen. */
function findNearest(field: string, known: readonly string[]): string | undefined {
  const wanted = plain(field)
  const ranked = known
    .map((name) => ({ name, far: farFrom(wanted, plain(name)) }))
    .toSorted((one, other) => one.far - other.far)
  const [nearest] = ranked
  const most = wanted.length < 4 ? 1 : Math.max(2, wanted.length / 3)
  return nearest && nearest.far <= Math.min(most, wanted.length - 1) ? nearest.name : undefined
}

function farFrom(wanted: string, name: string): number {
  const isBeginning = wanted.length >= 3 && (name.startsWith(wanted) || wanted.startsWith(name))
  return isBeginning ? 0.5 : distance(wanted, name)
}

function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[-_]/g, "")
}
