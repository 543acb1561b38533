/**
 * Whether PostgreSQL can store every text in a JSON value: it accepts neither NUL nor lone
 * surrogates. Not recursive: a message of 64 kB can be nested deeper than the stack.
 */
export function isStorable(value: unknown): boolean {
  const left: unknown[] = []
  const isFit = (each: unknown): boolean => {
    if (typeof each === "string") return isStorableText(each)
    if (typeof each === "object" && each !== null) left.push(each)
    return true
  }
  if (!isFit(value)) return false
  for (let each = left.pop(); each !== undefined; each = left.pop()) {
    if (Array.isArray(each)) {
      if (!each.every(isFit)) return false
    } else if (!Object.entries(each as object).every(([key, held]) => isStorableText(key) && isFit(held))) {
      return false
    }
  }
  return true
}

function isStorableText(text: string): boolean {
  return !text.includes("\0") && text.isWellFormed()
}
