import { globSync, readFileSync } from "node:fs"
import { resolve } from "node:path"
import ts from "typescript"
import { beforeAll, describe, expect, it } from "vitest"
import { serverSentences } from "#app/features/server/sentences.ts"
import { messages } from "#app/language/de/shared.po"
import { addMessages, i18nIn } from "#app/language/i18n.ts"
import { addSentences, sentencesIn } from "#app/language/sentences.ts"

const root = resolve(import.meta.dirname, "../..")
const inGerman = sentencesIn(i18nIn("de"))
const inEnglish = sentencesIn(i18nIn("en"))

beforeAll(() => {
  addMessages("de", messages)
  addSentences(serverSentences)
})

describe("a server message", () => {
  it("is shown in the page's language", () => {
    expect(inGerman("The reply was stopped.")).toBe("Die Antwort wurde angehalten.")
  })

  it("stays in English on an English page and if there is no translation", () => {
    expect(inEnglish("The reply was stopped.")).toBe("The reply was stopped.")
    expect(inGerman("Nobody has thought of this.")).toBe("Nobody has thought of this.")
  })

  it("is recognised wherever the server refuses a user's request", () => {
    const unknown = globSync("server/**/*.ts", { cwd: root })
      .filter((file) => !isForPrograms(file))
      .flatMap((file) => findSentences(file).map((sentence) => ({ file, sentence })))
      .filter(({ sentence }) => !FOR_PROGRAMS.has(sentence) && inGerman(sentence) === sentence)
    expect(unknown).toEqual([])
  })
})

/** Protocols that the browser code speaks on behalf of users, and operator commands. */
function isForPrograms(file: string): boolean {
  return /^server\/(adapters|backup|blog|commands|demo|docs|http\/openapi|mail|ops)\/|\/(tus|upload-metadata)\.ts$/.test(
    file,
  )
}

/** What only a third-party program can cause. */
const FOR_PROGRAMS = new Set(["This needs a second factor. Open /second-factor in your browser."])

/**
 * The texts passed to the errors of server/errors.ts and, in a contract, to a schema. A value is
 * written as `7`.
 */
function findSentences(file: string): string[] {
  const tree = ts.createSourceFile(
    file,
    readFileSync(resolve(root, file), "utf8"),
    ts.ScriptTarget.Latest,
    true,
  )
  const found: string[] = []
  const visit = (node: ts.Node, isSaid: boolean) => {
    if (ts.isCallExpression(node) && node.expression.getText() === "v.description") return
    const says = isSaid || isRefusal(node) || (file.endsWith("contract.ts") && isCheck(node))
    const text = says ? textOf(node) : null
    if (text !== null && /^\p{Lu}.* .*[.!?]$/u.test(text)) found.push(text)
    ts.forEachChild(node, (child) => visit(child, says))
  }
  visit(tree, false)
  return found
}

const REFUSALS =
  /^(BadRequest|Unauthorized|Forbidden|RequestTimeout|Conflict|Gone|TooLarge|UnsupportedType|Locked|TooMany|Unavailable|OutOfSpace)$/

function isRefusal(node: ts.Node): boolean {
  return ts.isNewExpression(node) && REFUSALS.test(node.expression.getText())
}

function isCheck(node: ts.Node): boolean {
  return ts.isCallExpression(node) && /^v\.\w+$/.test(node.expression.getText())
}

function textOf(node: ts.Node): string | null {
  if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) return node.text
  if (!ts.isTemplateExpression(node)) return null
  return node.head.text + node.templateSpans.map(({ literal }) => `7${literal.text}`).join("")
}
