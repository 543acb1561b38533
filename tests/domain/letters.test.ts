import { describe, expect, test } from "vitest"
import {
  accountDeletedLetter,
  passwordResetLetter,
  planChangedLetter,
  signUpAttemptedLetter,
  verifyAddressLetter,
  waitlistConfirmationLetter,
  waitlistInvitationLetter,
  welcomeLetter,
} from "#server/mail/letters.ts"

const origin = "https://tideline.example.org"
const url = `${origin}/somewhere?token=abc&b=2`

const letters = [
  ["welcome", welcomeLetter({ name: "Ada", origin }), `${origin}/dashboard`],
  [
    "plan-changed",
    planChangedLetter({ name: "Ada", previousPlan: "free", newPlan: "pro", origin }),
    `${origin}/pricing`,
  ],
  ["reset-password", passwordResetLetter({ url, minutes: 60, origin }), url],
  ["sign-up-attempted", signUpAttemptedLetter({ origin }), `${origin}/sign-in`],
  ["verify-address", verifyAddressLetter({ url, origin }), url],
  ["waitlist-confirmation", waitlistConfirmationLetter({ url, days: 7, origin }), url],
  ["waitlist-invitation", waitlistInvitationLetter({ url, days: 14, origin }), url],
  ["account-deleted", accountDeletedLetter({ name: "Ada", origin }), null],
] as const

describe("every letter", () => {
  test.each(letters)("%s says who sends it and where the site is, in both parts", async (_kind, written) => {
    const { subject, text, html } = await written
    expect(subject).toMatch(/Tideline/)
    expect(subject).toMatch(/^[ -~]{10,78}$/)
    expect(text).toContain(origin)
    expect(html).toContain(`href="${origin}"`)
    expect(text).toMatch(/\nYou get this letter because .*\nhttps:\/\/tideline\.example\.org\n$/)
  })

  test.each(letters)("%s says the same words in both parts", async (_kind, written) => {
    const { text, html } = await written
    const sentences = text.split("\n").filter((line) => line.length > 20 && !line.startsWith("http"))
    expect(sentences.length).toBeGreaterThan(2)
    const shown = readable(html)
    for (const sentence of sentences) expect(shown).toContain(sentence.replace(/:$/, ""))
  })

  test.each(letters.filter(([, , link]) => link !== null))(
    "%s has its link on a line of its own, and behind a button",
    async (_kind, written, link) => {
      const { text, html } = await written
      expect(text.split("\n").filter((line) => line === link)).toHaveLength(1)
      const hrefs = [...html.matchAll(/href="([^"]*)"/g)].map(([, href]) => readable(href ?? ""))
      expect(hrefs.filter((href) => href === link)).toHaveLength(2)
    },
  )

  test.each(letters)(
    "%s is small enough to be shown whole, and readable in the dark",
    async (_kind, written) => {
      const { html } = await written
      expect(Buffer.byteLength(html)).toBeLessThan(20_000)
      expect(html).toContain("prefers-color-scheme: dark")
      expect(html).toContain('name="color-scheme"')
    },
  )

  test.each(letters)("%s loads nothing from anywhere", async (_kind, written) => {
    const { html } = await written
    expect(html).not.toMatch(/<(img|link|script|iframe|object)\b|url\(|@import/i)
  })
})

describe("a person's words in a letter", () => {
  test("are text, never markup", async () => {
    const { html } = await welcome(`<img src=x onerror="alert(1)"> & 'co'`)
    expect(html).not.toContain("<img")
    expect(html).toContain("&lt;img src=x onerror=&quot;alert(1)&quot;&gt; &amp; &#x27;co&#x27;")
  })

  test("stay out of the subject, so that they cannot begin a header of their own", async () => {
    const { subject } = await welcome("Ada\r\nBcc: everybody@example.org")
    expect(subject).toBe("Welcome to Tideline")
  })

  test("stay in one line of the plain part", async () => {
    const { text } = await welcome("Ada\r\n\r\nYour account is closed.")
    expect(text.split("\n")[0]).toBe("Welcome aboard, Ada Your account is closed.")
  })

  test("are cut where they stop being a name", async () => {
    const { text } = await welcome("🌊".repeat(1000))
    expect(text.split("\n")[0]?.length).toBeLessThan(220)
    expect(text.isWellFormed()).toBe(true)
  })

  test("may be in any script", async () => {
    const { text, html } = await welcome("  Ծովինար 👩‍🚀  ")
    expect(text).toContain("Welcome aboard, Ծովինար 👩‍🚀\n")
    expect(html).toContain("Welcome aboard, Ծովինար 👩‍🚀<")
  })

  test.each(["   ", "\u0000\u0007", "\u202E\u2066"])("may be nothing that can be seen: %j", async (name) => {
    expect((await welcome(name)).text.split("\n")[0]).toBe("Welcome aboard")
  })

  test.each([
    "you won, see https://evil.example",
    "www.evil.example",
    "evil.example",
    "write to eve@evil.example",
    "evil\\share",
  ])("are no name where a mail program would make a link of them: %j", async (name) => {
    const { text, html } = await welcome(name)
    expect(text.split("\n")[0]).toBe("Welcome aboard")
    expect(html).not.toContain("evil")
  })

  test.each(["J. R. R. Tolkien", "J.R.R. Tolkien", "O'Brien, Jr.", "Ada-Marie"])("greet %s", async (name) => {
    expect((await welcome(name)).text.split("\n")[0]).toBe(`Welcome aboard, ${name}`)
  })
})

const welcome = (name: string) => welcomeLetter({ name, origin })

/** What a reader sees of our own markup. */
function readable(html: string): string {
  return html
    .replaceAll(/<style>.*?<\/style>|<!--.*?-->/gs, "")
    .replaceAll(/<[^>]*>/g, " ")
    .replaceAll("&#x27;", "'")
    .replaceAll("&quot;", '"')
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&amp;", "&")
    .replaceAll(/ +/g, " ")
}
