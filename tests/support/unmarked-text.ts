import { globSync, readFileSync } from "node:fs"
import { resolve } from "node:path"
import ts from "typescript"

export interface Unmarked {
  file: string
  line: number
  text: string
}

/** Text within these is the same in every language. */
const CODE = new Set(["code", "pre", "kbd", "samp", "style", "script"])

/** Product names and names of keys. */
const NAMES = new Set(
  [
    "Tideline|Clerk|React Router|Drizzle|Geist|Next.js + Convex + Clerk|English|Deutsch|Node",
    "Enter|Escape|Tab|Home|End|Delete|Backspace|Shift|Control|Space|Ctrl|Esc",
    "Linux, macOS|ada@example.org|Blog|Tideline blog|The Tideline project",
  ].flatMap((names) => names.split("|")),
)

const ENGLISH =
  /(^|\s)(the|of|to|is|are|was|and|or|in|for|it|its|not|no|you|your|more|with|on|from|that|this|there|by|at|be)(\s|[.,!?]|$)/i

/**
 * Texts of the interface that are missing from the catalogues: text between tags, and strings that
 * look like prose.
 */
export function findUnmarkedText(file: string, source: string): Unmarked[] {
  const tree = ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true)
  const found: Unmarked[] = []
  const visit = (node: ts.Node) => {
    if (isMarked(node) || isForDevelopers(node) || ts.isTypeNode(node)) return
    const text = textOf(node)
    if (text !== null && !NAMES.has(text)) {
      found.push({ file, line: tree.getLineAndCharacterOfPosition(node.getStart()).line + 1, text })
    }
    ts.forEachChild(node, visit)
  }
  visit(tree)
  return found
}

function textOf(node: ts.Node): string | null {
  if (ts.isJsxText(node)) {
    const text = node.text.replace(/\s+/g, " ").trim()
    if (/^[\w.-]+(\/[\w.-]+)+,?$/.test(text)) return null // a path
    return /\p{L}{2}/u.test(text.replace(/&\w+;/g, "")) ? text : null
  }
  const text = stringOf(node)?.trim()
  if (text?.includes("\n")) return null // an example of code
  return text && readsLikeWords(text) ? text : null
}

function stringOf(node: ts.Node): string | null {
  if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) return node.text
  if (!ts.isTemplateExpression(node)) return null
  return node.head.text + node.templateSpans.map(({ literal }) => `{}${literal.text}`).join("")
}

function readsLikeWords(text: string): boolean {
  if (/^[\w./:#?&=%{}-]*$/.test(text) && !/^[A-Z][a-z]+[.!?]?$/.test(text)) return false
  return /^[A-Z][a-z’']+([.!?…,]?$|[.,:;!?…]? [\p{L}\d({])/u.test(text) || ENGLISH.test(text)
}

function isMarked(node: ts.Node): boolean {
  if (ts.isTaggedTemplateExpression(node)) return /^(t|msg)$/.test(node.tag.getText())
  if (ts.isCallExpression(node)) return /^(t|msg|plural|select)$/.test(node.expression.getText())
  if (!ts.isJsxElement(node) && !ts.isJsxSelfClosingElement(node)) return false
  const opening = ts.isJsxElement(node) ? node.openingElement : node
  const isEnglish = opening.attributes.properties.some((attribute) => attribute.getText() === 'lang="en"')
  return (
    isEnglish ||
    CODE.has(opening.tagName.getText()) ||
    /^(Trans|Plural|Select)$/.test(opening.tagName.getText())
  )
}

/** Errors thrown, module names, types, classes, and operands of comparisons. */
function isForDevelopers(node: ts.Node): boolean {
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return true
  if (ts.isThrowStatement(node)) return true
  if (ts.isPropertyAssignment(node) && node.name.getText() === '"@type"') return true
  if (ts.isNewExpression(node)) return /Error$|RegExp$/.test(node.expression.getText())
  if (ts.isCallExpression(node)) return /^(classNames|console\.\w+)$/.test(node.expression.getText())
  if (ts.isJsxAttribute(node)) return /^(className|\w+ClassName)$/.test(node.name.getText())
  const { parent } = node
  if (!ts.isStringLiteral(node) || !parent) return false
  if (ts.isPropertyAssignment(parent) && parent.name === node) return true
  if (ts.isCaseClause(parent)) return true
  if (ts.isCallExpression(parent) && /\.(includes|has)$/.test(parent.expression.getText())) return true
  return ts.isBinaryExpression(parent) && /^[!=]==?$/.test(parent.operatorToken.getText())
}

export function findAllUnmarkedText(
  root: string,
  folders: string[],
  exclude: (file: string) => boolean,
): Unmarked[] {
  return folders
    .flatMap((folder) => globSync(/\.tsx?$/.test(folder) ? folder : `${folder}/**/*.{ts,tsx}`, { cwd: root }))
    .filter((file) => !exclude(file))
    .flatMap((file) => findUnmarkedText(file, readFileSync(resolve(root, file), "utf8")))
}

if (import.meta.main) {
  const found = findAllUnmarkedText(resolve(import.meta.dirname, "../.."), process.argv.slice(2), () => false)
  for (const { file, line, text } of found) process.stdout.write(`${file}:${line}  ${text}\n`)
}
