import { setImmediate as nextTurn } from "node:timers/promises"
import { I18nProvider } from "@lingui/react"
import { describe, expect, it } from "vitest"
import { i18nIn } from "#app/language/i18n.ts"
import { readReplies } from "#app/features/markdown/read-replies.ts"
import { ReadingsContext } from "#app/features/markdown/readings.ts"
import { MessageList } from "#app/routes/shared-conversation/message-list.tsx"
import { hostileMarkdown } from "../support/hostile-markdown.ts"
import { longestBlock } from "../support/longest-block.ts"
import { slowness } from "../support/longest-pass.ts"
import { renderPage } from "../support/render-page.ts"

/** A page of a shared conversation, all replies of which are one text, which differs in its end. */
async function openPage(text: string) {
  const texts = Array.from({ length: 15 }, (_, at) => `${text}\n\n${at}`)
  const readings = await readReplies(
    texts.map((content) => ({ role: "assistant", parts: [{ type: "text", text: content }] })),
  )
  await nextTurn()
  const messages = texts.map((content, at) => ({
    _id: String(at),
    _creationTime: 0,
    role: "assistant" as const,
    content,
    files: [],
    isGrowing: false,
  }))
  return renderPage(
    <I18nProvider i18n={i18nIn("en")}>
      <ReadingsContext value={readings}>
        <MessageList messages={messages} />
      </ReadingsContext>
    </I18nProvider>,
  )
}

describe("a page of hostile replies", () => {
  it.each(hostileMarkdown(19_900))(
    "never holds the event loop for longer than 50 ms: %s",
    async (_, text) => {
      const { result, milliseconds } = await longestBlock(() => openPage(text))
      expect(result.length).toBeGreaterThan(1_000)
      expect(milliseconds).toBeLessThanOrEqual(50 * slowness())
    },
  )
})
