import { globSync, readFileSync } from "node:fs"
import type { RouteConfigEntry } from "@react-router/dev/routes"
import ts from "typescript"
import { expect, it } from "vitest"
import routes from "#app/routes.ts"

/** The list of routes, and what `href` cannot write. */
const EXEMPT = /^app\/(routes\.ts|features\/identity\/addresses\.ts)/

it("the application's own addresses are written with href(), so that the compiler knows their routes", () => {
  const known = pathsOf(routes)
  const found = globSync("app/**/*.{ts,tsx}")
    .filter((file) => !EXEMPT.test(file))
    .flatMap((file) => findAddresses(file, known))
  expect(found).toEqual([])
})

function pathsOf(entries: readonly RouteConfigEntry[], above = ""): Set<string> {
  const paths = entries.flatMap(({ path, children = [] }) => {
    const whole = path === undefined ? above : `${above}/${path}`
    return [whole, ...pathsOf(children, whole)]
  })
  return new Set(paths.map((path) => path.replace(/\/[:*].*$/, "")).filter((path) => path !== ""))
}

/** As `file: address`. Comparisons with the beginning of a path are no addresses. */
function findAddresses(file: string, known: ReadonlySet<string>): string[] {
  const found: string[] = []
  const visit = (node: ts.Node) => {
    if (ts.isImportDeclaration(node) || ts.isCaseClause(node)) {
      if (ts.isCaseClause(node)) node.statements.forEach(visit)
      return
    }
    if (ts.isCallExpression(node) && /^href$|\.startsWith$/.test(node.expression.getText())) return
    const text = startOf(node)
    if (text !== null && known.has(text.replace(/[?#].*$|\/$/s, ""))) found.push(`${file}: ${text}`)
    ts.forEachChild(node, visit)
  }
  visit(ts.createSourceFile(file, readFileSync(file, "utf8"), ts.ScriptTarget.Latest, true))
  return found
}

function startOf(node: ts.Node): string | null {
  if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) return node.text
  return ts.isTemplateExpression(node) ? node.head.text : null
}
