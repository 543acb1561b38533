/** A text as PostgreSQL can keep it: without NUL, and without halves of characters, which its JSON refuses. */
export function storableText(text: string): string {
  return text.replaceAll("\0", "").toWellFormed()
}

/** A copy of something that goes into a JSON column, with every text in it storable, names of properties too. */
export function storableJson<Value>(value: Value): Value {
  return JSON.parse(
    JSON.stringify(value, (_, part: unknown) => {
      if (typeof part === "string") return storableText(part)
      if (typeof part !== "object" || part === null || Array.isArray(part)) return part
      return Object.fromEntries(Object.entries(part).map(([name, one]) => [storableText(name), one]))
    }),
  ) as Value
}
