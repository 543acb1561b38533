import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { setTimeout as delay } from "node:timers/promises"
import { chromium, type BrowserContext, type Page } from "playwright-core"
import postgres from "postgres"
import { startEmbeddedPostgres } from "../db/embedded.ts"
import { buildApp, builtServer, isOutOfDate } from "../server/commands/bundle.ts"
import { describeMachine } from "./results.ts"

// node bench/chat-page.ts: how a conversation of 2,000 messages feels in a browser. How soon its end is on the screen, which frames are
// dropped while it is scrolled to its beginning, and while an answer of 1,500 words grows and a question is typed below all of it.

const MESSAGES = 2_000
const PORT = 3978
const origin = `http://localhost:${PORT}`

const root = resolve(import.meta.dirname, "..")
if (isOutOfDate(root)) await buildApp(root)
const machine = describeMachine()
const folder = mkdtempSync(join(tmpdir(), "tideline-bench-"))
const cluster = await startEmbeddedPostgres({ directory: join(folder, "postgres") })
const server = await startServer(cluster.url)
const sql = postgres(cluster.url, { max: 1, onnotice: () => {} })
const browser = await chromium.launch({
  executablePath: process.env["CHROMIUM"] ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu"],
})
try {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
  await signUp(context)
  const report = await measure(context, await makeThread())
  process.stdout.write(`${JSON.stringify({ machine, ...report }, null, 2)}\n`)
} finally {
  await browser.close()
  await sql.end()
  server.kill("SIGTERM")
  await once(server, "exit")
  await cluster.stop()
  rmSync(folder, { recursive: true, force: true })
}

async function measure(context: BrowserContext, path: string) {
  const page = await context.newPage()
  page.setDefaultTimeout(60_000)
  const open = await opening(page, path)
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

/** Looks at the last message alone: Playwright would read all two thousand again and again, and that is what would be measured. */
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

/** A full load, as after a reload. Milliseconds since the navigation began. */
async function opening(page: Page, path: string) {
  const times: { html: number; painted: number; ready: number }[] = []
  for (let round = 0; round < 5; round++) {
    await page.goto(`${origin}${path}`)
    await page.getByText(`Answer ${MESSAGES / 2}`).waitFor()
    times.push(
      await page.evaluate(() => {
        const [navigation] = performance.getEntriesByType("navigation") as PerformanceNavigationTiming[]
        const painted = performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0
        return {
          html: Math.round(navigation?.responseEnd ?? 0),
          painted: Math.round(painted),
          ready: Math.round(navigation?.loadEventEnd ?? 0),
        }
      }),
    )
  }
  return times
}

/** From a press on its name in the list to its last words on the screen. Milliseconds. */
async function switching(page: Page, path: string) {
  const times: number[] = []
  for (let round = 0; round < 5; round++) {
    await page.goto(`${origin}/dashboard/chat`)
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

/** Milliseconds between frames, and the tasks that kept the page from drawing for 50 of them. */
async function framesWhile(page: Page, act: () => Promise<unknown>) {
  const measured = await page.evaluateHandle(() => {
    const frames: number[] = []
    const tasks: number[] = []
    const observer = new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) tasks.push(duration)
    })
    observer.observe({ type: "longtask" })
    let before = performance.now()
    let isOver = false
    const note = (now: number) => {
      frames.push(now - before)
      before = now
      if (!isOver) requestAnimationFrame(note)
    }
    requestAnimationFrame(note)
    return {
      end() {
        isOver = true
        observer.disconnect()
        return { frames, tasks }
      },
    }
  })
  const cpu = await taskTimesWhile(page, act)
  const { frames, tasks } = await measured.evaluate(({ end }) => end())
  const sorted = frames.toSorted((a, b) => a - b)
  const at = (part: number) => Math.round(sorted[Math.floor(sorted.length * part)] ?? 0)
  return {
    frames: frames.length,
    p50: at(0.5),
    p95: at(0.95),
    p99: at(0.99),
    longest: Math.round(sorted.at(-1) ?? 0),
    longTasks: tasks.map((task) => Math.round(task)),
    cpu,
  }
}

interface TraceEvent {
  name: string
  ph: string
  tid: number
  args: { name?: string }
  /** Microseconds of the thread's own time: the load of others is not in them. */
  tdur?: number
}

/** Processor milliseconds of single tasks of the page's main thread. */
async function taskTimesWhile(page: Page, act: () => Promise<unknown>) {
  const session = await page.context().newCDPSession(page)
  const events: TraceEvent[] = []
  session.on("Tracing.dataCollected", ({ value }) => events.push(...(value as unknown as TraceEvent[])))
  await session.send("Tracing.start", {
    transferMode: "ReportEvents",
    traceConfig: { includedCategories: ["devtools.timeline", "disabled-by-default-devtools.timeline"] },
  })
  await act()
  const complete = new Promise((end) => session.once("Tracing.tracingComplete", end))
  await session.send("Tracing.end")
  await complete
  await session.detach()
  const main = new Set(
    events.filter(({ ph, args }) => ph === "M" && args.name === "CrRendererMain").map(({ tid }) => tid),
  )
  const times = events
    .filter(({ name, ph, tid }) => name === "RunTask" && ph === "X" && main.has(tid))
    .map(({ tdur = 0 }) => tdur / 1000)
  return {
    tasks: times.length,
    total: Math.round(times.reduce((sum, time) => sum + time, 0)),
    longest: Math.round(Math.max(0, ...times)),
    over16: times.filter((time) => time > 16).length,
    over50: times.filter((time) => time > 50).length,
  }
}

async function makeThread() {
  const [user] = await sql`update users set onboarding_completed = true returning _id`
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

async function signUp(context: BrowserContext) {
  const account = { name: "Ada Lovelace", email: "ada@example.org", password: "an engine of brass and cards" }
  await context.request.post(`${origin}/api/auth/sign-up/email`, { data: account, headers: { origin } })
  // The record is made by the first page that asks for it.
  await context.request.get(`${origin}/dashboard`)
}

async function startServer(databaseUrl: string) {
  const child = spawn(process.execPath, [builtServer(root)], {
    cwd: folder,
    stdio: "ignore",
    env: {
      PATH: process.env["PATH"],
      NODE_ENV: "production",
      PORT: String(PORT),
      HOST: "127.0.0.1",
      DATABASE_URL: databaseUrl,
      MAIL_INBOX_PORT: "0",
      AI_GATEWAY_API_KEY: "embedded",
      AUTH_SECRET: "a secret for measuring, and for nothing else",
    },
  })
  while (!(await answers())) await delay(50)
  return child
}

async function answers() {
  try {
    return (await fetch(`${origin}/api/health`)).ok
  } catch {
    return false
  }
}
