import { randomBytes } from "node:crypto"
import { describe, expect, it } from "vitest"
import { decodeText, detectEncoding } from "#server/files/text-contract.ts"
import { detectType } from "#server/files/types.ts"

const german = "Name;Straße;Preis\r\nMüller;Königsallee;12,50 €\r\n"
const japanese = "これは日本語の文字列です。"
const utf16 = Buffer.from(german, "utf16le")
const inShiftJis = Buffer.from("82b182ea82cd93fa967b8cea82cc95b68e9a97f182c582b78142", "hex")
/** All of its characters but the sign of the euro are Latin-1. */
const in1252 = Buffer.from(german.replace("€", "\x80"), "latin1")

describe("a text", () => {
  it.each([
    ["UTF-8", Buffer.from(german), german, "utf-8"],
    ["UTF-8 with a mark", Buffer.from(`\uFEFF${german}`), german, "utf-8"],
    ["UTF-16 as Excel writes it", Buffer.from(`\uFEFF${german}`, "utf16le"), german, "utf-16le"],
    ["UTF-16 big-endian", Buffer.from(`\uFEFF${german}`, "utf16le").swap16(), german, "utf-16be"],
    ["UTF-16 without a mark", utf16, german, "utf-16le"],
    ["UTF-16 big-endian without a mark", Buffer.from(utf16).swap16(), german, "utf-16be"],
    ["Windows-1252", in1252, german, "windows-1252"],
    ["a few letters of Windows-1252", Buffer.from("Gr\xFC\xDFe", "latin1"), "Grüße", "windows-1252"],
    ["Shift_JIS", inShiftJis, japanese, "shift_jis"],
    [
      "KOI8-R",
      Buffer.from("f0d2c9d7c5d42c20cdc9d22120fcd4cf20d4c5d3d4", "hex"),
      "Привет, мир! Это тест",
      "koi8-r",
    ],
    [
      "GBK",
      Buffer.from("d6d0b9facac7d2bbb8f6b4f3b9faa3acd5e2cac7b2e2cad4", "hex"),
      "中国是一个大国，这是测试",
      "gb18030",
    ],
  ])("in %s is text, and is read", async (_name, bytes, text, encoding) => {
    expect(detectEncoding(bytes)).toBe(encoding)
    expect(decodeText(bytes)).toBe(text)
    expect(await detectType(bytes, "table.csv")).toBe("text/csv")
    expect(await detectType(bytes, "notes")).toBe("text/plain")
  })

  it("in Windows-1252 that begins with much ASCII is read", () => {
    const bytes = Buffer.concat([Buffer.alloc(10_000, "all plain. "), in1252])
    expect(decodeText(bytes).endsWith(german)).toBe(true)
  })

  it("may end within a character", () => {
    expect(decodeText(Buffer.from("aü").subarray(0, 2))).toBe("a")
    expect(decodeText(utf16.subarray(0, 7))).toBe("Nam")
  })
})

it.each([
  ["zeros", Buffer.alloc(100)],
  ["a few control characters", Buffer.from([1, 2, 3, 0, 255])],
  ["little-endian numbers", Buffer.from(new Uint16Array([1, 2, 3, 4, 500]).buffer)],
  ["what is only marked as UTF-16", Buffer.from([0xff, 0xfe, 1, 0, 2, 0])],
  ["noise", randomBytes(4000)],
])("no text: %s", (_name, bytes) => {
  expect(detectEncoding(bytes)).toBeNull()
})
