/** What every answer of the upstream is made of. */
export const DELTAS = 100

/** Milliseconds from the request to the first delta, and from each to the next. */
export const INTERVAL = 50

/** Each stream has a number, which its question tells the upstream. */
export function questionOf(stream: number): string {
  return `Tell me of stream #${stream}#.`
}

/** The number in the last question of a request's body. */
export function streamAsked(body: string): number {
  const numbers = [...body.matchAll(/stream #(\d+)#/g)]
  return Number(numbers.at(-1)?.[1])
}

/** As long as an average token, with the delta's number, by which a client recognises it. */
export function deltaText(index: number): string {
  return ` ~${String(index).padStart(3, "0")}`
}

/**
 * The numbers of the deltas in a chunk of a response. A delta that is cut off is completed by the
 * next chunk: put `rest` before it.
 */
export function deltasIn(text: string): { numbers: number[]; rest: string } {
  const numbers: number[] = []
  let end = 0
  for (const { index, [1]: digits } of text.matchAll(/~(\d{3})/g)) {
    numbers.push(Number(digits))
    end = index + 4
  }
  const begun = text.lastIndexOf("~")
  return { numbers, rest: begun >= end && text.length - begun < 4 ? text.slice(begun) : "" }
}
