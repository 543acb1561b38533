/**
 * An object as indented JSON, in parts, so that a list of it can be longer than memory: the value of
 * a property may be an iterable of the list's elements.
 */
export async function* writeJsonObject(
  properties: Readonly<Record<string, unknown>>,
): AsyncGenerator<string> {
  let before = "{"
  for (const [name, value] of Object.entries(properties)) {
    yield `${before}\n  ${JSON.stringify(name)}: `
    if (isIterable(value)) yield* writeList(value)
    else yield indented(value, "  ")
    before = ","
  }
  yield "\n}\n"
}

async function* writeList(elements: AsyncIterable<unknown>): AsyncGenerator<string> {
  let before = "["
  for await (const element of elements) {
    yield `${before}\n    ${indented(element, "    ")}`
    before = ","
  }
  yield before === "[" ? "[]" : "\n  ]"
}

/** A line break within a text is escaped, so each one here begins a line of the JSON. */
function indented(value: unknown, indent: string): string {
  return JSON.stringify(value, null, 2).replaceAll("\n", `\n${indent}`)
}

function isIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value
}
