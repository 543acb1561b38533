/** Whether a text can hold a footnote at all. A module of its own, which loads no parser. */
export function mayHoldFootnotes(text: string): boolean {
  return text.includes("[^")
}
