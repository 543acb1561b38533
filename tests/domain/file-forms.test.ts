import { text } from "node:stream/consumers"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { takeFiles } from "#server/files/incoming.ts"
import type { IncomingFile } from "#server/files/upload.ts"

const FORM = [
  "--x",
  'content-disposition: form-data; name="note"',
  "",
  "no file",
  "--x",
  'content-disposition: form-data; name="file"; filename="one.txt"',
  "",
  "the first file",
  "--x",
  'content-disposition: form-data; name="file"; filename="two.txt"',
  "",
  "the second file",
  "--x--",
].join("\r\n")

describe("a form with files", () => {
  it("yields them one by one, in order", async () => {
    expect(await takeFiles(formOf(FORM), readFile)).toEqual([
      "one.txt: the first file",
      "two.txt: the second file",
    ])
  })

  it("is refused wherever it is cut off", async () => {
    for (let length = 0; length < FORM.length - 1; length++) {
      const taking = takeFiles(formOf(FORM.slice(0, length)), readFile)
      await expect(taking, `after ${length} characters`).rejects.toMatchObject({ status: 400 })
    }
  })

  it("always ends in a response, whatever it contains", async () => {
    const pieces = fc.constantFrom(...FORM.split(/(?=--x|\r\n|filename)/), "\0", "--x--", ";", '"')
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof(pieces, fc.string({ unit: "binary" })), { maxLength: 20 }),
        async (parts) => {
          const taken = await takeFiles(formOf(parts.join("")), readFile).catch((error: unknown) => error)
          if (!Array.isArray(taken)) expect(taken).toMatchObject({ status: 400 })
        },
      ),
      { numRuns: 150 },
    )
  })

  it("has names as browsers write them, where nothing but quotation marks and ends of lines is escaped", async () => {
    const body = new FormData()
    for (const name of ['form "quoted" ü漢.txt', "two\r\nlines.txt", "100%.txt", "a%41%2F%0d.txt"])
      body.append("file", new Blob(["x"]), name)
    const request = new Request("http://localhost/api/files", { method: "POST", body })
    expect(await takeFiles(request, readFile)).toEqual([
      'form "quoted" ü漢.txt: x',
      "two\r\nlines.txt: x",
      "100%.txt: x",
      "a%41%2F%0d.txt: x",
    ])
  })

  it("ends at the first refused file, with its refusal", async () => {
    await expect(takeFiles(formOf(FORM), refuse)).rejects.toThrow("one.txt is refused")
  })

  it("contains at most fifty", async () => {
    const file = '--x\r\ncontent-disposition: form-data; name="file"; filename="a.txt"\r\n\r\na\r\n'
    expect(await takeFiles(formOf(`${file.repeat(50)}--x--`), readFile)).toHaveLength(50)
    await expect(takeFiles(formOf(`${file.repeat(51)}--x--`), readFile)).rejects.toMatchObject({
      status: 400,
    })
  })
})

function formOf(body: string) {
  const headers = { "content-type": "multipart/form-data; boundary=x" }
  return new Request("http://localhost/", { method: "POST", headers, body })
}

async function refuse({ fileName }: IncomingFile) {
  throw new Error(`${fileName} is refused`)
}

async function readFile({ fileName, bytes }: IncomingFile) {
  // Receiving a file starts with a database query, and the form continues to arrive in the
  // meantime.
  await new Promise(setImmediate)
  return `${fileName}: ${await text(bytes)}`
}
