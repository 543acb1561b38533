/**
 * A text as PostgreSQL can keep it: without NUL, and without halves of characters, which its JSON
 * refuses.
 */
export function storableText(text: string): string {
  return text.replaceAll("\0", "").toWellFormed()
}

/**
 * Levels of lists and objects in each other. A model can be talked into thousands, which no
 * recursion here or in PostgreSQL bears.
 */
const DEEPEST = 100

/**
 * A copy of something that goes into a JSON column, with every text in it storable, names of
 * properties too, and bounded in depth.
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
