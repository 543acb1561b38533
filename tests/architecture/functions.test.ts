import { readdirSync, readFileSync } from "node:fs"
import { join, relative, resolve } from "node:path"
import ts from "typescript"
import { expect, it } from "vitest"

const root = resolve(import.meta.dirname, "../..")

/** Lines of which 99 of 100 of the engine's functions have no more, and those of the longest. */
const MOST = 80
const LONGEST = 120

it("the engine's functions are short enough to be read at once", () => {
  const lengths = readdirSync(join(root, "live"), { recursive: true, encoding: "utf8" })
    .filter((name) => /\.tsx?$/.test(name))
    .flatMap((name) => measure(join(root, "live", name)))
    .toSorted((one, other) => other.lines - one.lines)
  expect(lengths.length).toBeGreaterThan(1000)
  expect(lengths.filter(({ lines }) => lines > LONGEST)).toEqual([])
  expect(lengths.filter(({ lines }) => lines > MOST).length).toBeLessThan(lengths.length / 100)
})

/** A function counts with those inside it. */
function measure(file: string): { lines: number; at: string }[] {
  const source = ts.createSourceFile(file, readFileSync(file, "utf8"), ts.ScriptTarget.Latest, true)
  const found: { lines: number; at: string }[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) && "body" in node && node.body) {
      const [first, last] = [node.getStart(), node.end].map(
        (at) => source.getLineAndCharacterOfPosition(at).line,
      )
      found.push({ lines: last! - first! + 1, at: `${relative(root, file)}:${first! + 1}` })
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return found
}
