import { vi } from "vitest"
import type { TidelineApp } from "./app.ts"

export interface Letter {
  id: string
  to: string
  subject: string
  text: string
}

/** The letter to `to` with such a subject in the local inbox. Letters may be on their way, so it waits for it. */
export async function findLetter(
  { inbox }: Pick<TidelineApp, "inbox">,
  to: string,
  subject: RegExp,
): Promise<Letter> {
  return vi.waitFor(
    async () => {
      const summaries = (await (await fetch(`${inbox}/api/messages`)).json()) as Letter[]
      const found = summaries.find((letter) => letter.to.includes(to) && subject.test(letter.subject))
      if (!found) {
        const seen = summaries.map((letter) => `${letter.to}: ${letter.subject}`)
        throw new Error(`${to} has got no letter ${subject}. The inbox has:\n${seen.join("\n")}`)
      }
      return (await (await fetch(`${inbox}/api/messages/${found.id}`)).json()) as Letter
    },
    { timeout: 10_000 },
  )
}
