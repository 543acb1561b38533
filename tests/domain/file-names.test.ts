import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { splitName } from "#server/files/contract.ts"
import { distinctNames } from "#server/files/distinct-names.ts"
import { cleanFileName, numberedName } from "#server/files/names.ts"

describe("a file name", () => {
  it.each([
    ["photo.jpg", "photo.jpg"],
    ["../../etc/passwd", "passwd"],
    ["C:\\fakepath\\email.doc", "email.doc"],
    ["  two   spaces .txt ", "two spaces .txt"],
    ["line\r\nbreak\0.txt", "linebreak.txt"],
    ["invoice\u202Efdp.exe", "invoicefdp.exe"],
    ["soft\u00ADhyphen\u200B.txt", "softhyphen.txt"],
    ["e\u0301te\u0301.txt", "été.txt"],
    ["con", "_con"],
    ["NUL.txt", "_NUL.txt"],
    ["com1 .log", "_com1 .log"],
    ["console.log", "console.log"],
    ["trailing. . ", "trailing"],
    [".env", ".env"],
    ["", "untitled"],
    ["...", "untitled"],
    ["\u202E\u200B", "untitled"],
    ["folder/", "untitled"],
    ["한글 파일.pdf", "한글 파일.pdf"],
    ["👨‍👩‍👧.png", "👨‍👩‍👧.png"],
    ["می‌خواهم.txt", "می‌خواهم.txt"],
    ["\u2800.txt", "untitled.txt"],
    ["\u3164\u2800\uFE0F .tar.gz", "untitled.tar.gz"],
    ["\u3164", "untitled"],
    ["a\u3164.txt", "a\u3164.txt"],
    ["🏴󠁧󠁢󠁥󠁮󠁧󠁿.png", "🏴󠁧󠁢󠁥󠁮󠁧󠁿.png"],
    ["hidden\u{E0068}\u{E0069}\u{E007F}.txt", "hidden.txt"],
    ["🏴\u{E0068}\u{E0069}.txt", "🏴.txt"],
    ["lone\uD800surrogate.txt", "lone\uFFFDsurrogate.txt"],
  ])("sent as %j is stored as %j", (claimed, kept) => {
    expect(cleanFileName(claimed)).toBe(kept)
  })

  it("is cut to 255 bytes between two characters, and keeps its extension", () => {
    const name = cleanFileName(`${"👍🏽".repeat(60)}.tar.gz`)
    expect(Buffer.byteLength(name)).toBeLessThanOrEqual(255)
    expect(name).toMatch(/^(👍🏽)+\.tar\.gz$/u)
    expect(Buffer.byteLength(numberedName(name, 1000))).toBeLessThanOrEqual(255)
    expect(numberedName(name, 1000)).toMatch(/^(👍🏽)+ \(1000\)\.tar\.gz$/u)
  })

  it("is safe to save, whatever was sent", () => {
    fc.assert(
      fc.property(anyName, (claimed) => {
        const name = cleanFileName(claimed)
        expect(name).not.toBe("")
        expect(Buffer.byteLength(name)).toBeLessThanOrEqual(255)
        expect(name).not.toMatch(/[/\\\p{Cc}\u202A-\u202E\u2066-\u2069\u200B\uFEFF]/u)
        expect(name).not.toMatch(/^\s|[\s.]$/)
        expect(name.isWellFormed()).toBe(true)
        expect(name).toBe(name.normalize("NFC"))
      }),
      { numRuns: 2000 },
    )
  })

  it("does not change when it is cleaned again", () => {
    fc.assert(
      fc.property(anyName, (claimed) => {
        const once = cleanFileName(claimed)
        expect(cleanFileName(once)).toBe(once)
      }),
      { numRuns: 2000 },
    )
  })

  it.each([
    ["report.final.pdf", "report.final", ".pdf"],
    ["archive.tar.gz", "archive", ".tar.gz"],
    [".env", ".env", ""],
    ["README", "README", ""],
    ["version 1.2", "version 1.2", ""],
    ["song.mp3", "song", ".mp3"],
    ["photo.", "photo.", ""],
  ])("%j has the stem %j and the extension %j", (fileName, stem, extension) => {
    expect(splitName(fileName)).toEqual({ stem, extension })
  })
})

describe("names in an archive", () => {
  it.each([
    [
      ["note.txt", "NOTE.txt", "Note.TXT"],
      ["note.txt", "NOTE (1).txt", "Note (2).TXT"],
    ],
    [
      ["a (1).txt", "a.txt", "A.txt", "A (1).txt"],
      ["a (1).txt", "a.txt", "A (2).txt", "A (1) (1).txt"],
    ],
    [
      [`<in>: "a|b?*.txt`, "in_.txt", "<in>.txt"],
      ["_in__ _a_b__.txt", "in_.txt", "_in_.txt"],
    ],
    [
      ["a?.txt", "a*.txt", "a_.txt"],
      ["a_.txt", "a_ (1).txt", "a_ (2).txt"],
    ],
  ])("%j are written as %j", (names, written) => {
    expect(names.map(distinctNames())).toEqual(written)
  })

  it("differ by more than case, however alike the originals are", () => {
    fc.assert(
      fc.property(fc.array(alikeName, { minLength: 2, maxLength: 40 }), (names) => {
        const written = names.map(distinctNames())
        expect(new Set(written.map((name) => name.toLowerCase())).size).toBe(names.length)
        for (const name of written) expect(Buffer.byteLength(name)).toBeLessThanOrEqual(255)
      }),
      { numRuns: 500 },
    )
  })
})

/** Some as long as a name may be, so that a number replaces their end. */
const alikeName = fc
  .tuple(
    fc.constantFrom("a", "A", "?", "x".repeat(246), "X".repeat(246)),
    fc.constantFrom("", "b", "B", "bcd", "bce"),
    fc.constantFrom("", " (1)", " (2)"),
    fc.constantFrom(".txt", ".TXT"),
  )
  .map((parts) => cleanFileName(parts.join("")))

/** Names with many of the problematic characters, including long names. */
const anyName = fc
  .array(
    fc.oneof(
      fc.string({ unit: "grapheme" }),
      fc.string({ unit: "binary" }),
      fc.constantFrom(
        "/",
        "\\",
        "\0",
        "\r\n",
        ".",
        " ",
        "..",
        "\u202E",
        "\u200D",
        "\u200C",
        "\uFEFF",
        "\uD800",
        "\u0301",
        "ي",
        "👍",
        "con",
        "x".repeat(90),
      ),
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(""))
