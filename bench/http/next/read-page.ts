import { readFileSync } from "node:fs"
import { join } from "node:path"
import parse from "html-react-parser"

/**
 * The markup of one of Tideline's pages as React elements, so that each candidate renders the same
 * tree.
 */
export function readPage(name: string) {
  return parse(readFileSync(join(process.cwd(), "markup", name), "utf8"))
}
