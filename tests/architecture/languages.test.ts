import { execFile } from "node:child_process"
import { globSync, readFileSync } from "node:fs"
import { basename, resolve } from "node:path"
import { promisify } from "node:util"
import { describe, expect, it } from "vitest"
import { findAllUnmarkedText, findUnmarkedText } from "../support/unmarked-text.ts"

const root = resolve(import.meta.dirname, "../..")

describe("the catalogues of the other languages", () => {
  it("contain each text of the source and no unused ones", async () => {
    expect(await check("sync", "--clean")).toContain("in sync")
  })

  it("leave nothing untranslated", async () => {
    expect(await check("missing")).toContain("No missing translations")
  })

  it("translate the same text the same way everywhere, because a page combines several catalogues", () => {
    const catalogues = globSync("app/language/de/*.po", { cwd: root }).map((file) => ({
      name: basename(file, ".po"),
      entries: readCatalogue(readFileSync(resolve(root, file), "utf8")),
    }))
    const said = new Map<string, { name: string; translation: string }>()
    const differing: string[] = []
    for (const { name, entries } of catalogues) {
      for (const { message, translation } of entries) {
        const before = said.get(message)
        if (before && before.translation !== translation) {
          differing.push(`${message}: ${before.translation} (${before.name}), ${translation} (${name})`)
        }
        said.set(message, { name, translation })
      }
    }
    expect(said.size).toBeGreaterThan(500)
    expect(differing).toEqual([])
  })
})

describe("an interface text", () => {
  it("is marked for the catalogues", () => {
    const unmarked = findAllUnmarkedText(root, ["app"], isNoInterface)
    expect(unmarked.map(({ file, line, text }) => `${file}:${line} ${text}`)).toEqual([])
  })

  it("never comes from a language shared between requests", () => {
    const shared = globSync("app/**/*.{ts,tsx}", { cwd: root }).filter((file) =>
      /import \{[^}]*\b(t|i18n)\b[^}]*\} from "@lingui\/core(\/macro)?"/.test(
        readFileSync(resolve(root, file), "utf8"),
      ),
    )
    expect(shared).toEqual([])
  })

  it("is detected between tags, in attributes and in strings, but not in code", () => {
    const source = `
      const list = [{ to: "/x", label: "Files" }]
      const marked = msg\`Chat\`
      export function Page() {
        return <p className="flex items-center" aria-label="What to do">Nothing yet <code>npm start</code></p>
      }
      export function Other() {
        return <p title={t\`Fine\`}><Trans>All of it</Trans> {isOpen ? "Shown now" : key === "Enter"}</p>
      }`
    expect(findUnmarkedText("page.tsx", source).map(({ text }) => text)).toEqual([
      "Files",
      "What to do",
      "Nothing yet",
      "Shown now",
    ])
  })
})

/**
 * Texts that only programs read, and long texts that are in English for everybody.
 */
function isNoInterface(file: string): boolean {
  return /^app\/routes\/(api|generated|legal)\//.test(file) || NO_INTERFACE.has(file)
}

const NO_INTERFACE = new Set([
  "app/entry.server.tsx",
  "app/routes/auth/provider/back-channel-logout.ts",
  "app/routes/blog/feed.ts",
  "app/routes/language.ts",
  "app/routes/marketing/demo.ts",
  "app/routes/theme.ts",
])

/** What Lingui reports about the catalogues; it names what is wrong, and fails. */
async function check(...what: string[]): Promise<string> {
  const cli = resolve(root, "node_modules/@lingui/cli/dist/lingui.js")
  // Not with this test's environment, which makes Lingui look for sources of its own.
  const options = { cwd: root, env: { PATH: process.env["PATH"], NO_COLOR: "1" } }
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [cli, "check", ...what, "--verbose"],
    options,
  )
  return stdout
}

/** The entries of a PO file. The same message with a context is a separate entry. */
function readCatalogue(text: string): { message: string; translation: string }[] {
  return text.split("\n\n").flatMap((entry) => {
    const field = (name: string) =>
      [...(new RegExp(`^${name} ((?:".*"\\n?)+)`, "m").exec(entry)?.[1]?.matchAll(/^"(.*)"$/gm) ?? [])]
        .map(([, line]) => line)
        .join("")
    const message = field("msgid")
    const context = field("msgctxt")
    return message ? [{ message: `${context} ${message}`, translation: field("msgstr") }] : []
  })
}
