import { setTimeout as delay } from "node:timers/promises"
import type { Page } from "playwright-core"
import type postgres from "postgres"
import { framesWhile } from "./frames.ts"
import { opening, withPage } from "./page.ts"

// node bench/chat-page.ts measures a conversation of 2,000 messages in a browser: how soon its end
// is on the screen, and which frames are dropped while it is scrolled to its beginning, and while a
// reply of 1,500 words grows and a message is typed below all of it.

const MESSAGES = 2_000
const PORT = 3978

await withPage(PORT, async ({ sql, page, machine }) => {
  const report = await measure(page, await makeThread(sql))
  process.stdout.write(`${JSON.stringify({ machine, ...report }, null, 2)}\n`)
})

async function measure(page: Page, path: string) {
  const open = await opening(page, path, (loaded) => loaded.getByText(`Answer ${MESSAGES / 2}`).waitFor())
  const switched = await switching(page, path)
  const messages = page.locator("[role=log] article")
  await page.getByRole("group", { name: "Conversation" }).hover()
  const scroll = await framesWhile(page, async () => {
    while ((await messages.count()) < MESSAGES) {
      await page.mouse.wheel(0, -1_500)
      await delay(16)
    }
  })
  await page.getByRole("button", { name: "Go to the latest message" }).click()
  await delay(1_000)
  const question = page.getByLabel("Your question")
  const tokens = await framesWhile(page, async () => {
    await question.fill("/long 1500")
    await page.keyboard.press("Enter")
    await lastWords(page, "word 1500")
  })
  const typing = await framesWhile(page, () =>
    question.pressSequentially("a question below all of them", { delay: 40 }),
  )
  return { open, switched, scroll, tokens, typing }
}

/**
 * Reads the last message only. Playwright would query all two thousand repeatedly, and that work
 * would dominate the measurement.
 */
async function lastWords(page: Page, words: string) {
  await page.waitForFunction(
    (expected) =>
      [...document.querySelectorAll("[role=log] > :last-child article")]
        .at(-1)
        ?.textContent?.includes(expected),
    words,
    { polling: 200 },
  )
}

/** Milliseconds from the click on its name in the list until its last words are on the screen. */
async function switching(page: Page, path: string) {
  const times: number[] = []
  for (let round = 0; round < 5; round++) {
    await page.goto("/dashboard/chat")
    await page.locator(`nav[aria-label=Conversations] a[href="${path}"]`).waitFor()
    await delay(500)
    times.push(
      await page.evaluate(
        async ({ link, words }) => {
          const begun = performance.now()
          document.querySelector<HTMLElement>(link)?.click()
          while (!document.querySelector("[role=log]")?.textContent?.includes(words)) {
            await new Promise((drawn) => requestAnimationFrame(drawn))
          }
          return Math.round(performance.now() - begun)
        },
        { link: `nav[aria-label=Conversations] a[href="${path}"]`, words: `Answer ${MESSAGES / 2}` },
      ),
    )
  }
  return times
}

async function makeThread(sql: postgres.Sql) {
  const [user] = await sql`select _id from users`
  const userId: string = user?.["_id"]
  const [thread] = await sql`
    insert into chat_threads ${sql({ user_id: userId, title: "A long one", last_message_at: Date.now() })} returning _id`
  const threadId: string = thread?.["_id"]
  const message = { user_id: userId, thread_id: threadId }
  await sql.begin(async (tx) => {
    for (let at = 1; at <= MESSAGES / 2; at++) {
      const [question] = await tx`
        insert into chat_messages ${tx({ ...message, role: "user", content: `Question ${at}: what of the tides?` })} returning _id`
      const [answer] = await tx`
        insert into chat_messages ${tx({ ...message, role: "assistant", content: answerOf(at) })} returning _id`
      const turn = { _id: answer?.["_id"], question_id: question?.["_id"], request_id: `request ${at}` }
      await tx`insert into chat_turns ${tx({ ...message, ...turn, status: "completed", model: "dev/no-model" })}`
    }
  })
  return `/dashboard/chat/${threadId}`
}

function answerOf(at: number) {
  const words = "The tide comes in and goes out twice a day, and the harbour keeps its own time. "
  const code =
    at % 5 === 0
      ? `\n\n\`\`\`ts\nexport function tide(hour: number) {\n  return Math.sin(hour) // ${at}\n}\n\`\`\``
      : ""
  const table = at % 7 === 0 ? "\n\n| hour | level |\n| - | - |\n| 6 | 2.1 |\n| 12 | 4.8 |" : ""
  return `## Answer ${at}\n\n${words.repeat(3)}\n\n- **high** at \`06:12\`\n- *low* at [noon](https://example.org/${at})${code}${table}\n\n${words.repeat(4)}`
}
