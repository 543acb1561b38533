import type { MarkdownIt } from "markdown-it"

/** Recognises URLs and email addresses in a text, which are not marked as links. */
export function readLinksInText(parser: MarkdownIt) {
  // `README.md` and `node.js` are no websites, so a URL begins with a scheme or with `www.`.
  parser.linkify.set({ fuzzyLink: false })
  parser.linkify.add("//", null).add("www.", {
    validate(text, at, linkify) {
      const before = at - "www.".length - 1
      if (before >= 0 && /[\p{L}\p{N}_.@/-]/u.test(text.charAt(before))) return 0
      const rest = linkify.testSchemaAt(`//${text.slice(at, at + LONGEST)}`, "http:", 0)
      return Math.max(0, rest - 2)
    },
    normalize(match) {
      match.url = `http://${match.url}`
    },
  })
}

/** Characters of a URL. */
const LONGEST = 2_000
