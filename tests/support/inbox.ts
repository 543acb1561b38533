import { vi } from "vitest"
import type { TidelineApp } from "./app.ts"

export interface Email {
  id: string
  to: string
  subject: string
  text: string
}

/**
 * Resolves with the email to `to` with this subject in the local inbox. Waits for it, as emails may
 * still be on their way.
 */
export async function findEmail(
  { inbox }: Pick<TidelineApp, "inbox">,
  to: string,
  subject: RegExp,
): Promise<Email> {
  return vi.waitFor(
    async () => {
      const summaries = (await (await fetch(`${inbox}/api/messages`)).json()) as Email[]
      const found = summaries.find((message) => isTo(message, to) && subject.test(message.subject))
      if (!found) {
        const seen = summaries.map((message) => `${message.to}: ${message.subject}`)
        throw new Error(`${to} has received no email ${subject}. The inbox has:\n${seen.join("\n")}`)
      }
      return (await (await fetch(`${inbox}/api/messages/${found.id}`)).json()) as Email
    },
    { timeout: 10_000 },
  )
}

/** Compares whole addresses: `new-ada@example.org` contains `ada@example.org`. */
function isTo(message: Email, address: string): boolean {
  return message.to.split(/[\s,<>]+/).includes(address)
}
