import { describe, expect, test } from "vitest"
import type { Message } from "#server/ports/mail.ts"
import { sendAddressVerification, sendEmail, sendPasswordReset } from "#server/mail/mail.ts"

const ORIGIN = "https://tideline.example.org"

describe("every letter", () => {
  const letters = [
    ["welcome", (mail: Outbox) => sendEmail(mail, "ada@example.org", { template: "welcome", name: "Ada" })],
    [
      "plan-changed",
      (mail: Outbox) =>
        sendEmail(mail, "ada@example.org", {
          template: "plan-changed",
          name: "Ada",
          previousPlan: "free",
          newPlan: "pro",
        }),
    ],
    [
      "password reset",
      (mail: Outbox) =>
        sendPasswordReset(mail, "ada@example.org", { url: `${ORIGIN}/r?a=1&b=2`, minutes: 60 }),
    ],
    [
      "address verification",
      (mail: Outbox) => sendAddressVerification(mail, "ada@example.org", { url: `${ORIGIN}/v?token=t` }),
    ],
  ] as const

  test.each(letters)(
    "%s goes to the given address and says who sends it, in both parts",
    async (_name, send) => {
      const outbox = openOutbox()
      expect(await send(outbox)).toEqual({ id: "<1@outbox>" })
      const [letter] = outbox.sent
      expect(letter?.to).toBe("ada@example.org")
      expect(letter?.subject).toMatch(/Tideline/)
      expect(letter?.text).toContain(ORIGIN)
      expect(letter?.html).toContain(ORIGIN)
    },
  )

  test.each(letters)("%s says the same words in both parts", async (_name, send) => {
    const outbox = openOutbox()
    await send(outbox)
    const [letter] = outbox.sent
    const sentences = (letter?.text ?? "")
      .split("\n")
      .filter((line) => line.length > 20 && !line.startsWith("http"))
    expect(sentences.length).toBeGreaterThan(2)
    const shown = readable(letter?.html ?? "")
    for (const sentence of sentences) expect(shown).toContain(sentence.replace(/:$/, ""))
  })

  test.each(letters)(
    "%s is small enough to be shown whole, and readable in the dark",
    async (_name, send) => {
      const outbox = openOutbox()
      await send(outbox)
      const html = outbox.sent[0]?.html ?? ""
      expect(Buffer.byteLength(html)).toBeLessThan(102_000)
      expect(html).toContain("prefers-color-scheme: dark")
      expect(html).toContain('name="color-scheme"')
    },
  )
})

describe("a person's words in a letter", () => {
  test("are text, never markup", async () => {
    const html = (await welcome(`<img src=x onerror="alert(1)"> & 'co'`)).html
    expect(html).not.toContain("<img")
    expect(html).toContain("&lt;img src=x onerror=&quot;alert(1)&quot;&gt; &amp; &#39;co&#39;")
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

  test("may be nothing that can be seen", async () => {
    expect((await welcome("   ")).text.split("\n")[0]).toBe("Welcome aboard")
  })
})

async function welcome(name: string): Promise<Message> {
  const outbox = openOutbox()
  await sendEmail(outbox, "ada@example.org", { template: "welcome", name })
  const [message] = outbox.sent
  if (!message) throw new Error("Nothing was sent.")
  return message
}

type Outbox = ReturnType<typeof openOutbox>

function openOutbox() {
  const sent: Message[] = []
  return {
    sent,
    config: { origin: ORIGIN },
    mail: {
      async send(message: Message) {
        sent.push(message)
        return { id: `<${sent.length}@outbox>` }
      },
      close() {},
    },
  }
}

/** What a reader sees of our own markup. */
function readable(html: string): string {
  return html
    .replaceAll(/<[^>]*>/g, " ")
    .replaceAll("&#39;", "'")
    .replaceAll("&quot;", '"')
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&amp;", "&")
    .replaceAll(/ +/g, " ")
}
