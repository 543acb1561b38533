import type { BrowserContextOptions, Page } from "playwright-core"
import postgres from "postgres"
import { startTideline } from "./app.ts"
import { giveCookies, launchBrowser, takenOver } from "./browser.ts"
import { ada as adaLovelace, signUp } from "./people.ts"

interface ThreadOptions {
  title?: string
  /** The text of the first message. */
  first?: string
  /** How the last reply ended. */
  status?: "completed" | "timeout"
  /** Sends a message and waits for the reply. */
  say?: string
}

/** The application, a browser, and somebody who is signed in and has finished onboarding. */
export async function openChatBrowser(settings: Record<string, string> = {}) {
  const app = await startTideline({ CHAT_RATE_LIMIT: "1000", ...settings })
  const sql = postgres(app.databaseUrl, { max: 1 })
  const browser = await launchBrowser()
  const person = await signUp(app, adaLovelace)
  // The first page requested creates the record.
  await person("/dashboard")
  const [user] = await sql`update users set onboarding_completed = true returning _id`
  const complaints: string[] = []

  async function open(path: string, options: BrowserContextOptions = {}): Promise<Page> {
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options })
    await giveCookies(context, person, app)
    const page = await context.newPage()
    // Less than the test's own timeout, so that the failure names what was waited for.
    page.setDefaultTimeout(20_000)
    page.on("console", (message) => complaints.push(message.text()))
    page.on("pageerror", ({ message }) => complaints.push(message))
    await page.goto(app.origin + path)
    if (options.javaScriptEnabled !== false) await takenOver(page)
    return page
  }

  /**
   * A stored conversation of that many messages, `Question n` and `Answer n` in turn. Resolves with
   * the path of its page.
   */
  async function thread(messages: number, options: ThreadOptions = {}): Promise<string> {
    const { title = `A conversation of ${messages}`, first, status = "completed", say } = options
    const [{ _id: threadId } = { _id: "" }] = await sql<{ _id: string }[]>`
      insert into chat_threads ${sql({ user_id: user?.["_id"], title, last_message_at: Date.now() })} returning _id`
    let questionId = ""
    for (let at = 0; at < messages + (say === undefined ? 0 : 2); at++) {
      const role = at % 2 === 0 ? "user" : "assistant"
      const usual = role === "user" ? `Question ${at}` : `Answer ${at}`
      const content = at === 0 && first ? first : at === messages + 1 && say ? say : usual
      const [message] = await sql`
        insert into chat_messages ${sql({ user_id: user?.["_id"], thread_id: threadId, role, content })} returning _id`
      if (role === "user") questionId = message?.["_id"]
      else {
        const ends = at >= messages - 1 ? status : "completed"
        await sql`insert into chat_turns ${sql({
          _id: message?.["_id"],
          user_id: user?.["_id"],
          thread_id: threadId,
          question_id: questionId,
          request_id: `request ${at}`,
          status: ends,
          model: "dev/no-model",
        })}`
      }
    }
    return `/dashboard/chat/${threadId}`
  }

  return {
    origin: app.origin,
    browser,
    sql,
    person,
    open,
    thread,
    /** Closes every page, and returns the messages of their consoles. */
    async endPages() {
      for (const context of browser.contexts()) await context.close()
      return complaints.splice(0)
    },
    /** The browser itself reports requests that fail, which a test may intend. */
    forgive(pattern: RegExp) {
      const left = complaints.filter((complaint) => !pattern.test(complaint))
      complaints.splice(0, complaints.length, ...left)
    },
    async close() {
      await browser.close()
      await sql.end()
      await app.stop()
    },
  }
}
