import { readFileSync } from "node:fs"
import { resolve } from "node:path"
import * as v from "valibot"
import { beforeAll, describe, expect, it } from "vitest"
import { messages } from "#app/language/de/refusals.po"
import { addMessages, i18nIn } from "#app/language/i18n.ts"
import { refusalIn, sentencesIn } from "#app/language/sentences.ts"
import { badInput, Conflict, dataOf, NotFound, Refusal, TooLarge } from "#server/errors.ts"
import { Title } from "#server/chat/contract.ts"
import { allRefusalTexts, refusalTexts, type Reason } from "#server/refusal-contract.ts"
import { failureTexts, readFailure, writeFailure } from "#server/chat/failure-contract.ts"
import { clientTexts, realtimeTexts } from "#live/contract"
import { refusalBody } from "#server/transport/refusals.ts"

const root = resolve(import.meta.dirname, "../..")
const inGerman = sentencesIn(i18nIn("de"))
const inEnglish = sentencesIn(i18nIn("en"))

beforeAll(() => addMessages("de", messages))

describe("a refusal", () => {
  it("is an English sentence for programs and the log", () => {
    expect(new NotFound("file").message).toBe("There is no such file, or it is not yours.")
    const refusal = new TooLarge("file-too-large", {
      fileName: "tide (1).txt",
      largest: { bytes: 1_500_000 },
    })
    expect(refusal.message).toBe("tide (1).txt is too large. A file can be 1.5 MB at most.")
  })

  it("is shown in the page's language, with sizes and numbers formatted for it", () => {
    const large = new TooLarge("file-too-large", { fileName: "tide (1).txt", largest: { bytes: 1_500_000 } })
    expect(inEnglish(dataOf(large))).toBe("tide (1).txt is too large. A file can be 1.5 MB at most.")
    expect(inGerman(dataOf(large))).toBe(
      "tide (1).txt ist zu groß. Eine Datei darf höchstens 1,5 MB groß sein.",
    )
    const misplaced = new Conflict("upload-offset-wrong", { end: 12_345, offset: 7 })
    expect(misplaced.message).toContain("The upload ends at 12345,")
    expect(inGerman(dataOf(misplaced))).toContain("12.345")
  })

  it("keeps a value that looks like part of a text", () => {
    const taken = new Conflict("file-name-taken", { fileName: "{fileName} $& '{0}'.txt" })
    expect(taken.message).toBe("You already have a file called {fileName} $& '{0}'.txt.")
    expect(inGerman(dataOf(taken))).toContain("{fileName} $& '{0}'.txt")
  })

  it("is read from the body of a response, and anything else is not", () => {
    const taken = new Conflict("file-name-taken", { fileName: "a.txt" })
    const received: unknown = JSON.parse(JSON.stringify(refusalBody(taken)))
    expect(received).toEqual({
      error: "You already have a file called a.txt.",
      reason: "file-name-taken",
      values: { fileName: "a.txt" },
    })
    expect(refusalIn(received)).toEqual(dataOf(taken))
    for (const body of [null, "error", {}, { error: 7 }]) expect(refusalIn(body)).toBeNull()
  })

  it("is what a schema's message names, or the message itself", () => {
    const [issue] = v.safeParse(Title, "x".repeat(201)).issues ?? []
    const refused = badInput([issue ?? { message: "" }])
    expect(refused.message).toBe("A title can have 200 characters at most.")
    expect(dataOf(refused)).toMatchObject({ reason: "title-too-long", values: { most: 200 } })
    expect(badInput([{ message: "Invalid type: Expected string" }]).message).toBe(
      "Invalid type: Expected string",
    )
  })

  it("has a reason of its own", () => {
    const file = readFileSync(resolve(root, "server/refusal-contract.ts"), "utf8")
    const [tables = ""] = file.split("export const allRefusalTexts")
    const written = [...tables.matchAll(/^  "?([a-z-]+)"?:/gm)].map(([, reason = ""]) => reason)
    const elsewhere = [realtimeTexts, clientTexts, failureTexts].flatMap((texts) => Object.keys(texts))
    const all = [...written, ...elsewhere]
    expect(all.toSorted()).toEqual(Object.keys({ ...allRefusalTexts, ...failureTexts }).toSorted())
  })

  it("is shown in English if its reason is unknown to the page", () => {
    expect(inGerman({ message: "Nobody has thought of this.", reason: "unthought", values: {} })).toBe(
      "Nobody has thought of this.",
    )
  })

  it("is recognised in the sentence that a failed reply holds, and any other sentence is kept", () => {
    const busy = writeFailure("model-busy", "0b9f2c1a")
    expect(busy).toBe("The model is busy. Try again in a moment. (Reference 0b9f2c1a)")
    expect(inEnglish(readFailure(busy))).toBe(busy)
    expect(inGerman(readFailure(busy))).toContain("0b9f2c1a")
    expect(inGerman(readFailure(writeFailure("tool-failed")))).not.toBe("The tool failed.")
    expect(inGerman(readFailure("Nobody has thought of this."))).toBe("Nobody has thought of this.")
  })

  it.each(Object.keys(allRefusalTexts) as Reason[])("says everything in English: %s", (reason) => {
    const values = samples(allRefusalTexts[reason])
    const { message } = new Refusal(400, "BadRequest", reason, ...([values] as never as []))
    expect(message).toBe(allRefusalTexts[reason].replace(/\{(\w+)\}/g, "‹$1›"))
    expect(message).not.toContain("undefined")
  })

  it.each(Object.entries({ ...refusalTexts, ...failureTexts }))(
    "says everything in German: %s",
    (reason, text) => {
      const values = samples(text)
      const said = inGerman({ message: "", reason, values: forGerman(reason, values) })
      expect(said).not.toBe("")
      for (const value of Object.values(forGerman(reason, values)))
        expect(said).toContain(typeof value === "number" ? value.toLocaleString("de-DE") : value)
      expect(said).not.toMatch(/\{\w+/)
    },
  )
})

/** A value for each name in the text. */
function samples(text: string): Record<string, string> {
  const names = [...text.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name)
  return Object.fromEntries(names.map((name) => [name, `‹${name}›`]))
}

/** The German formats some values as numbers, so these get one that shows it. */
function forGerman(reason: string, values: Record<string, string>): Record<string, string | number> {
  const entry = catalogue.split("\n\n").find((text) => text.includes(`msgid "${reason}"`)) ?? ""
  return Object.fromEntries(
    Object.entries(values).map(([name, value], at) => [
      name,
      entry.includes(`{${name}, number}`) ? 12_345 + at : value,
    ]),
  )
}

const catalogue = readFileSync(resolve(root, "app/language/de/refusals.po"), "utf8")
