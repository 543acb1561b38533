/**
 * A text that PostgreSQL can store: without NUL and without lone surrogates, which its JSON
 * refuses.
 */
export function storableText(text: string): string {
  return text.replaceAll("\0", "").toWellFormed()
}

/**
 * Levels of nested lists and objects. A model can be made to produce thousands, which would
 * overflow the stack here or in PostgreSQL.
 */
const DEEPEST = 100

/**
 * A copy of a value for a JSON column: every text in it is storable, property names included, and
 * its depth is limited.
 */
export function storableJson<Value>(value: Value): Value {
  return copy(value, 0) as Value
}

function copy(value: unknown, depth: number): unknown {
  if (typeof value === "string") return storableText(value)
  if (typeof value !== "object" || value === null) return value
  if (depth === DEEPEST) return "(nested too deeply to be kept)"
  if (Array.isArray(value)) return value.map((one: unknown) => copy(one, depth + 1))
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [storableText(name), copy(one, depth + 1)]),
  )
}
