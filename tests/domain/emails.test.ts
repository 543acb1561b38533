import { describe, expect, test } from "vitest"
import { LANGUAGES, type Language } from "#server/language-contract.ts"
import { writeEmail, type About } from "#server/mail/mail.ts"
import type { EmailKind } from "#server/mail/outbox.ts"
import { longestBlock } from "../support/longest-block.ts"
import { slowness } from "../support/longest-pass.ts"

const origin = "https://tideline.example.org"
const url = `${origin}/somewhere?token=abc&b=2`

const NOTICES = [
  "new-browser",
  "password-changed",
  "address-changed",
  "key-created",
  "second-factor-added",
  "second-factor-removed",
  "passkey-added",
  "passkey-removed",
] as const

const CHANGES = [
  { isNew: true, isConfirmed: true },
  { isNew: false, isConfirmed: true },
  { isNew: false, isConfirmed: false },
]

const ADA = { email: "ada@example.org", clerkId: "user_ada", userId: "user_ada", name: "Ada" }

const PLANS = { previousPlan: "free", newPlan: "pro", change: "1" }

const INVITATION = {
  url,
  inviter: "Ada",
  space: "Engines",
  senderId: "ada",
  expiresAt: Date.now() + 604_800_000,
}

const FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"

const facts = {
  at: Date.UTC(2026, 10, 23, 4, 5),
  address: "192.0.2.7",
  userAgent: FIREFOX,
  name: "backup",
}

async function write<Kind extends EmailKind>(kind: Kind, about: About<Kind>) {
  return (await writeEmail({ origin }, kind, about)).message
}

const lettersIn = (language: Language) => {
  const reader = { ...ADA, language }
  const account = `${origin}/dashboard/account`
  return [
    ["welcome", write("welcome", reader), `${origin}/dashboard`],
    ["plan-changed", write("plan-changed", { ...reader, ...PLANS }), `${origin}/pricing`],
    ["reset-password", write("reset-password", { ...reader, url, minutes: 60 }), url],
    ["sign-up-attempted", write("sign-up-attempted", reader), `${origin}/sign-in`],
    ["verify-address", write("verify-address", { ...reader, url, minutes: 60 }), url],
    ["waitlist-confirmation", write("waitlist-confirmation", { ...reader, url, days: 7, mostOpen: 3 }), url],
    ["waitlist-invitation", write("waitlist-invitation", { ...reader, url, days: 14 }), url],
    ["space-invitation", write("space-invitation", { ...reader, ...INVITATION }), url],
    ...NOTICES.map(
      (subject) =>
        [subject, write("security-notice", { ...reader, cause: "", subject, facts }), account] as const,
    ),
    ...CHANGES.map(
      (change) =>
        [
          `address-change ${JSON.stringify(change)}`,
          write("confirm-address-change", { ...reader, url, next: "new@example.org", hours: 24, ...change }),
          url,
        ] as const,
    ),
    ["address-change-attempted", write("address-change-attempted", reader), `${origin}/sign-in`],
    ["account-deleted", write("account-deleted", reader), null],
  ] as const
}

const REASONS = { en: "You're receiving this email because ", de: "Sie erhalten diese E-Mail, weil " }

describe.each(LANGUAGES)("every email in %s", (language) => {
  const emails = lettersIn(language)

  test.each(emails)("%s names its sender and links the site, in both parts", async (_kind, written) => {
    const { subject, text, html } = await written
    expect(subject).toMatch(/Tideline/)
    expect(subject).toMatch(/^[ -~äöüÄÖÜß]{10,78}$/)
    expect(text).toContain(origin)
    expect(html).toContain(`href="${origin}"`)
    expect(text.split("\n").at(-3)).toMatch(new RegExp(`^${REASONS[language]}.*\\.$`))
    expect(text.split("\n").slice(-2)).toEqual([origin, ""])
  })

  test.each(emails)("%s declares its language for screen readers", async (_kind, written) => {
    expect((await written).html).toMatch(new RegExp(`<html[^>]* lang="${language}"`))
  })

  test.each(emails)("%s has the same text in both parts", async (_kind, written) => {
    const { text, html } = await written
    const sentences = text.split("\n").filter((line) => line.length > 20 && !line.startsWith("http"))
    expect(sentences.length).toBeGreaterThan(2)
    const shown = readable(html)
    for (const sentence of sentences) expect(shown).toContain(sentence.replace(/:$/, ""))
  })

  test.each(emails.filter(([, , link]) => link !== null))(
    "%s has its link on a line of its own, and behind a button",
    async (_kind, written, link) => {
      const { text, html } = await written
      expect(text.split("\n").filter((line) => line === link)).toHaveLength(1)
      const hrefs = [...html.matchAll(/href="([^"]*)"/g)].map(([, href]) => readable(href ?? ""))
      expect(hrefs.filter((href) => href === link)).toHaveLength(2)
    },
  )

  test.each(emails)(
    "%s is small enough not to be clipped, and readable in dark mode",
    async (_kind, written) => {
      const { html } = await written
      expect(Buffer.byteLength(html)).toBeLessThan(20_000)
      expect(html).toContain("prefers-color-scheme: dark")
      expect(html).toContain('name="color-scheme"')
    },
  )

  test.each(emails)("%s loads nothing from anywhere", async (_kind, written) => {
    const { html } = await written
    expect(html).not.toMatch(/<(img|link|script|iframe|object)\b|url\(|@import/i)
  })
})

test.each(lettersIn("en").map(([kind, english], at) => [kind, english, lettersIn("de")[at]?.[1]] as const))(
  "%s is translated completely",
  async (_kind, english, german) => {
    const texts = shownIn((await german)?.html ?? "")
    expect(texts.length).toBeGreaterThan(5)
    const same = shownIn((await english).html).filter((text) => texts.includes(text))
    expect(same.filter((text) => !text.startsWith(origin)).toSorted()).toEqual(["Tideline", "≈"])
  },
)

test("an email names a plan as the pricing page does, in German with a capital", async () => {
  const change = { ...ADA, ...PLANS }
  const english = await write("plan-changed", { ...change, language: "en" })
  expect(english.text).toContain("You were on the free plan. From now on you are on the pro plan.")
  const german = await write("plan-changed", { ...change, language: "de" })
  expect(german.text).toContain("Bisher hatten Sie den Tarif Free. Ab jetzt haben Sie den Tarif Pro.")
})

describe.each([
  ["en", "Welcome to Tideline", "Welcome aboard"],
  ["de", "Willkommen bei Tideline", "Willkommen an Bord"],
] as const)("text from a person in an email in %s", (language, title, greeting) => {
  const welcome = (name: string) => write("welcome", { ...ADA, name, language })

  test("is never interpreted as markup", async () => {
    const { html } = await welcome(`<img src=x onerror="alert(1)"> & 'co'`)
    expect(html).not.toMatch(/(<|&lt;)img/)
    expect(html).toContain("img src=x onerror=&quot;alert(1)&quot; &amp; &#x27;co&#x27;")
  })

  test("stays out of the subject, so that it cannot start a header", async () => {
    const { subject } = await welcome("Ada\r\nBcc: everybody@example.org")
    expect(subject).toBe(title)
  })

  test("stays on one line of the plain part", async () => {
    const { text } = await welcome("Ada\r\n\r\nYour account is closed.")
    expect(text.split("\n")[0]).toBe(`${greeting}, Ada Your account is closed.`)
  })

  test("is cut where it stops being a name", async () => {
    const { text } = await welcome("🌊".repeat(1000))
    expect(text.split("\n")[0]?.length).toBeLessThanOrEqual(`${greeting}, `.length + 200)
    expect(text.isWellFormed()).toBe(true)
  })

  test("may be in any script", async () => {
    const { text, html } = await welcome("  Ծովինար 👩‍🚀  ")
    expect(text).toContain(`${greeting}, Ծովինար 👩‍🚀\n`)
    expect(html).toContain(`${greeting}, Ծովինար 👩‍🚀<`)
  })

  test.each(["   ", "\u0000\u0007", "\u202E\u2066"])("is dropped if it is invisible: %j", async (name) => {
    expect((await welcome(name)).text.split("\n")[0]).toBe(greeting)
  })

  test.each([
    "you won, see https://evil.example",
    "www.evil.example",
    "evil.example",
    "write to eve@evil.example",
    "evil\\share",
  ])("is not used as a name if a mail program would turn it into a link: %j", async (name) => {
    const { text, html } = await welcome(name)
    expect(text.split("\n")[0]).toBe(greeting)
    expect(html).not.toContain("evil")
  })

  test.each(["evil。example", "例え.みんな", "ev\u200Dil.example", "javascript:alert(1)"])(
    "is not used as a name if a browser would open it: %j",
    async (name) => {
      expect((await welcome(name)).text.split("\n")[0]).toBe(greeting)
    },
  )

  test.each([
    "https://evil.example/x",
    "pro (see www.evil.example)",
    "eve@evil.example",
    '<a href="https://evil.example">pro</a>',
  ])("is not used as a plan if a mail program would turn it into a link: %j", async (plan) => {
    for (const plans of [
      { previousPlan: plan, newPlan: "pro" },
      { previousPlan: "free", newPlan: plan },
    ]) {
      const { text, html } = await write("plan-changed", { ...ADA, ...PLANS, ...plans, language })
      expect(text + html).not.toContain("evil")
      expect(text).toMatch(/\b(free|pro)\b/i)
    }
  })

  test("is one line without markup or hidden characters where it names a plan", async () => {
    const newPlan = "p\u200Br\u202Eo\r\n\r\n<b>Your account is closed."
    const { text, html } = await write("plan-changed", { ...ADA, ...PLANS, newPlan, language })
    expect(text.split("\n").filter((line) => line.includes("Your account is closed"))).toHaveLength(1)
    expect(text).not.toMatch(/[<>\u200B\u202E]/)
    expect(html).not.toMatch(/(<|&lt;)b(>|&gt;)/)
  })

  test.each(["J. R. R. Tolkien", "J.R.R. Tolkien", "O'Brien, Jr.", "Ada-Marie"])(
    "is greeted as %s",
    async (name) => {
      expect((await welcome(name)).text.split("\n")[0]).toBe(`${greeting}, ${name}`)
    },
  )
})

/** Each text that a reader sees, without the hidden filler after the preview. */
function shownIn(html: string): string[] {
  const body = html.slice(html.indexOf("<body")).replaceAll(/<!--.*?-->/gs, "")
  return [...new Set([...body.matchAll(/>([^<>]+)</g)].map(([, text = ""]) => text.trim()))].filter((text) =>
    /[^\s\u200B-\u200F\uFEFF]/.test(text),
  )
}

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

test.each(["a ", "漢", "@a", "[ ", "a. ", "\u200d", "1 ", "&"])(
  "an email about thousands of mentions keeps nobody waiting: %j",
  async (unit) => {
    const mentions = Array.from({ length: 5000 }, (_, at) => ({
      slug: "engines",
      threadId: `${at}`,
      messageId: `${at}`,
      author: unit.repeat(200).slice(0, 200),
      space: `${at} ${unit.repeat(60)}`.slice(0, 60),
      excerpt: unit.repeat(200).slice(0, 200),
    }))
    const mention = () => write("mention", { ...ADA, language: "en", cause: "", mentions })
    await mention() // loaded and compiled
    const { result, milliseconds } = await longestBlock(mention)
    expect(result.text.length).toBeLessThan(10_000)
    expect(milliseconds).toBeLessThanOrEqual(50 * slowness())
  },
)

describe("names in an invitation to somebody who does not know them", () => {
  test("are quoted, so that neither passes for a sentence of ours", async () => {
    const { text } = await invite({ inviter: "Your account is locked", space: "Reply with your password" })
    expect(text).toContain("“Your account is locked” invites you")
    expect(text.toLowerCase()).toContain("the space “reply with your password”")
  })

  test.each([
    "call +1 900 555 0100 now",
    "(0900) 555-01-00",
    "１９００５５５０１００",
    "1\u200D900\u200D555",
  ])("are left out if they contain a telephone number: %j", async (name) => {
    const { text } = await invite({ inviter: name, space: name })
    expect(text).toContain("Somebody invites you to share conversations and files in a space.")
    expect(text).not.toContain("555")
  })

  test("are short", async () => {
    const { text } = await invite({ inviter: "🌊".repeat(90), space: "long ".repeat(40) })
    expect(text.isWellFormed()).toBe(true)
    for (const [, name = ""] of text.matchAll(/“([^”]*)”/g)) expect(name.length).toBeLessThanOrEqual(40)
  })

  test("may contain a year or the number of a version", async () => {
    const { text } = await invite({ inviter: "Ada", space: "Budget 2026, 3rd draft" })
    expect(text.toLowerCase()).toContain("“budget 2026, 3rd draft”")
  })
})

function invite(names: { inviter: string; space: string }) {
  return write("space-invitation", { ...ADA, language: "en", ...INVITATION, ...names })
}
