import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"

/** A block of code in a guide: the text of a new file, or a change of one. */
interface Block {
  language: string
  path: string
  text: string
}

/** The blocks of a page, or of the part below a heading, that name a file. */
export function blocksOf(page: string): Block[] {
  return [...page.matchAll(/^```(\w+) (\S+)\n(.*?)^```$/gms)].map(
    ([, language = "", path = "", text = ""]) => ({ language, path, text }),
  )
}

/** Applies the blocks to a copy of the project. A text that a diff names must be there once. */
export function applyBlocks(root: string, blocks: readonly Block[]): void {
  for (const { language, path, text } of blocks) {
    const file = join(root, path)
    if (language === "diff") writeFileSync(file, changed(readFileSync(file, "utf8"), text, path))
    else if (language === "po") writeFileSync(file, translated(readFileSync(file, "utf8"), text, path))
    else {
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, text)
    }
  }
}

/** The parts of a diff are separated by `@@`. */
function changed(file: string, diff: string, path: string): string {
  return diff.split(/^@@.*\n/m).reduce((text, part) => {
    const lines = part.split("\n").slice(0, -1)
    const sideOf = (other: string) =>
      lines
        .filter((line) => !line.startsWith(other))
        .map((line) => `${line.slice(1)}\n`)
        .join("")
    return replaceOnce(text, sideOf("+"), sideOf("-"), path)
  }, file)
}

/** After `npm run words` has extracted the texts. */
function translated(file: string, entries: string, path: string): string {
  return [...entries.matchAll(/^(msgid .+\n)(msgstr .+\n)/gm)].reduce(
    (text, [, id = "", words = ""]) => replaceOnce(text, `${id}msgstr ""\n`, id + words, path),
    file,
  )
}

function replaceOnce(text: string, before: string, after: string, path: string): string {
  const [start, end, ...more] = text.split(before)
  if (end === undefined || more.length > 0)
    throw new Error(
      `The guide changes a part of ${path} that is there ${more.length > 0 ? "twice" : "no more"}:\n${before}`,
    )
  return `${start}${after}${end}`
}
