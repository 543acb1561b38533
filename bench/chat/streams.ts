/** The number of deltas in each reply of the upstream. */
export const DELTAS = 100

/** Milliseconds from the request to the first delta, and between deltas. */
export const INTERVAL = 50

/** Streams are numbered, and the message tells the upstream the number. */
export function questionOf(stream: number): string {
  return `Tell me of stream #${stream}#.`
}

/** Returns the stream number in the last message of a request's body. */
export function streamAsked(body: string): number {
  const numbers = [...body.matchAll(/stream #(\d+)#/g)]
  return Number(numbers.at(-1)?.[1])
}

/**
 * The text of a delta. It is as long as an average token and contains the delta's number, so that
 * clients can identify it.
 */
export function deltaText(index: number): string {
  return ` ~${String(index).padStart(3, "0")}`
}

/**
 * Returns the numbers of the deltas in a chunk of a response. A delta may be split between chunks:
 * prepend `rest` to the next one.
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
