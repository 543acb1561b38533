import chardet from "chardet"

/** Bytes from the beginning by which an encoding is detected. */
const SAMPLE = 4100

/** Of 100. Below it, a guess is worse than the encoding that most files without a sign of theirs have. */
const SURE = 40

/** Bytes that are read to guess between encodings. */
export const LARGE_SAMPLE = 16 * SAMPLE

/** The text of the bytes, in whatever encoding they are. The end may be half a character. */
export function decodeText(bytes: Uint8Array): string {
  return new TextDecoder(encodingOf(bytes)).decode(bytes, { stream: true })
}

/** A label for `TextDecoder` of what is known to be text. The end may be half a character. */
export function encodingOf(bytes: Uint8Array): string {
  const encoding = detectEncoding(bytes.subarray(0, SAMPLE)) ?? "utf-8"
  // What follows the sample may be the first that is not ASCII.
  return encoding !== "utf-8" || isIn("utf-8", bytes) ? encoding : guess(bytes)
}

/** A label for `TextDecoder`; null if the bytes are no text. The end may be half a character. */
export function detectEncoding(sample: Uint8Array): string | null {
  const [first, second] = sample
  if (first === 0xff && second === 0xfe) return isIn("utf-16le", sample) ? "utf-16le" : null
  if (first === 0xfe && second === 0xff) return isIn("utf-16be", sample) ? "utf-16be" : null
  if (isIn("utf-8", sample)) return "utf-8"
  if (sample.includes(0)) return detectWide(sample)
  const encoding = guess(sample)
  return isIn(encoding, sample) ? encoding : null
}

/** UTF-16 without a mark: the zeros of its ASCII characters are all at even places, or all at odd ones. */
function detectWide(sample: Uint8Array): string | null {
  const zeros = [...sample.keys()].filter((place) => sample[place] === 0)
  const odd = zeros.filter((place) => place % 2 === 1).length
  const encoding = odd === zeros.length ? "utf-16le" : odd === 0 ? "utf-16be" : null
  return encoding !== null && isIn(encoding, sample) ? encoding : null
}

function guess(bytes: Uint8Array): string {
  const [best] = chardet.analyse(bytes.subarray(0, LARGE_SAMPLE))
  if (!best || best.confidence < SURE) return "windows-1252"
  try {
    return new TextDecoder(best.name).encoding
  } catch {
    // Nothing here can decode it.
    return "windows-1252"
  }
}

/** Valid, and without control characters other than white space, and without unassigned ones. */
function isIn(encoding: string, sample: Uint8Array): boolean {
  try {
    const text = new TextDecoder(encoding, { fatal: true }).decode(sample, { stream: true })
    return (
      !/[\0-\x08\x0B\x0E-\x1A\x1C-\x1F\x7F]/.test(text) &&
      (encoding === "utf-8" || !/[\x80-\x9F]|\p{Cn}|\p{Co}/u.test(text))
    )
  } catch {
    return false
  }
}
