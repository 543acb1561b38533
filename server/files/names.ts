import { FILE_NAME_LIMIT, splitName } from "./contract.ts"

const JOINED = String.raw`[\p{Extended_Pictographic}\p{Emoji_Modifier}\uFE0F\p{Script=Arabic}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Malayalam}\p{Script=Sinhala}]`

/**
 * A name that is safe to display, to save and to put in a header, from whatever name the sender
 * gave: the last part of a path, composed (NFC), without characters that are invisible or change
 * the writing direction. Never empty.
 */
export function cleanFileName(claimed: string): string {
  const lastPart = claimed.slice(Math.max(claimed.lastIndexOf("/"), claimed.lastIndexOf("\\")) + 1)
  const composed = lastPart.toWellFormed().normalize("NFC").replace(INVISIBLE, "$<flag>").normalize("NFC")
  const named = withVisibleStem(trimEnd(composed.replace(/\s+/gu, " ").trimStart()))
  return shorten(RESERVED.test(named) ? `_${named}` : named, "")
}

/** `a (2).txt` for `a.txt` and 2. */
export function numberedName(fileName: string, number: number): string {
  return shorten(fileName, ` (${number})`)
}

/** `a.jpg (damaged).txt` for `a.jpg`, whose place a text takes. */
export function damagedName(fileName: string): string {
  return shorten(`${fileName}.txt`, " (damaged)")
}

/** The same for all names that a number could make equal: long ones are cut to make space for it. */
export function seriesOf(fileName: string): string {
  return numberedName(fileName, Number.MAX_SAFE_INTEGER)
}

/**
 * Control and format characters, line and paragraph separators. A joiner is kept where the script
 * needs it: within an emoji, and inside words of scripts that join their letters. So is the flag of a
 * part of a country, which is a black flag and its code in invisible characters.
 */
const INVISIBLE = new RegExp(
  String.raw`(?<flag>\u{1F3F4}[\u{E0030}-\u{E0039}\u{E0061}-\u{E007A}]{3,6}\u{E007F})|(?<!${JOINED})[\u200C\u200D]|[\u200C\u200D](?!${JOINED})|[[\p{Cc}\p{Cf}\u2028\u2029]--[\u200C\u200D]]`,
  "gv",
)

/** Fillers are letters and symbols that look like nothing. */
const BLANK = /^[\p{Default_Ignorable_Code_Point}\s\u2800]*$/u

function withVisibleStem(name: string): string {
  const { stem, extension } = splitName(name)
  return BLANK.test(stem) ? `untitled${extension}` : name
}

/** Names that Windows opens as devices, whatever the extension. */
const RESERVED = /^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]) *(\.|$)/i

/**
 * Cuts the stem, never the extension or `suffix`, and never inside a character as people see it.
 */
function shorten(fileName: string, suffix: string): string {
  const { stem, extension } = splitName(fileName)
  const limit = FILE_NAME_LIMIT - Buffer.byteLength(suffix + extension)
  if (Buffer.byteLength(stem) <= limit) return stem + suffix + extension
  // Only the character at the limit is looked for: names are numbered by the thousand.
  const cut = CHARACTERS.segment(stem).containing(lengthWithin(stem, limit))
  return (trimEnd(stem.slice(0, cut?.index)) || "untitled") + suffix + extension
}

const CHARACTERS = new Intl.Segmenter("en", { granularity: "grapheme" })

/** How many UTF-16 units of a text its first `limit` bytes of UTF-8 hold. */
function lengthWithin(text: string, limit: number): number {
  return new TextEncoder().encodeInto(text, new Uint8Array(limit)).read
}

/** Windows drops dots and spaces at the end, so two names could become one. */
function trimEnd(name: string): string {
  return name.replace(/[. ]+$/, "")
}
