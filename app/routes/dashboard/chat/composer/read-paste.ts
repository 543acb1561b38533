/** Characters above which a pasted text becomes a file beside the message. */
const LONG = 8000

/**
 * The files that a paste attaches; none if its text belongs into the field, which has space for so
 * many more characters. A text gets the title as its name. Spreadsheets and word processors put a
 * picture of the text beside it, while file managers put the names of the files there.
 */
export function readPaste(
  { files, text }: { files: File[]; text: string },
  { space, title }: { space: number; title: string },
): File[] {
  const isOfFiles = files.length > 0 && files.every(({ name }) => text.includes(name))
  if (text.trim() === "" || isOfFiles) return files
  return text.length > Math.min(LONG, space) ? [textFile(text, title)] : []
}

/** Several of one name are numbered by the server. */
export function textFile(text: string, title: string): File {
  return new File([text], `${title}.txt`, { type: "text/plain" })
}
