/**
 * Whether PostgreSQL can store every text in a JSON value: it accepts neither NUL nor lone
 * surrogates. Not recursive: a message of 64 kB can be nested deeper than the stack.
 */
export function isStorable(value: unknown): boolean {
  const left = [value]
  for (let each = left.pop(); each !== undefined || left.length > 0; each = left.pop()) {
    if (typeof each === "string") {
      if (each.includes("\0") || !each.isWellFormed()) return false
    } else if (typeof each === "object" && each !== null) {
      left.push(...Object.keys(each), ...Object.values(each))
    }
  }
  return true
}
