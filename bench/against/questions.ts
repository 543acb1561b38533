import { signUp, type Person } from "../accounts.ts"
import { startThread } from "../chat/threads.ts"
import { startServer, stopServer } from "../http/processes.ts"
import type { Figures } from "../medians.ts"
import { median } from "../statistics.ts"

const QUESTIONS = 100
const PORT = 3980
const ORIGIN = `http://localhost:${PORT}`

/**
 * One person sends 100 messages simultaneously, each to a conversation of its own: ms until they are
 * stored, and until that of another person is stored in the meantime.
 */
export async function measureQuestions(stage: {
  databaseUrl: string
  folder: string
  server: string
}): Promise<Figures> {
  const served = await startServer([stage.server], {
    port: PORT,
    path: "/api/health",
    cwd: stage.folder,
    env: {
      PORT: String(PORT),
      HOST: "127.0.0.1",
      TRUSTED_PROXIES: "1",
      DATABASE_URL: stage.databaseUrl,
      MAIL_INBOX_PORT: "0",
      AI_GATEWAY_API_KEY: "embedded",
      AUTH_SECRET: "a secret for measuring, and for nothing else",
      CHAT_RATE_LIMIT: "100000",
      CHAT_TURNS_AT_ONCE: "200",
      LOG_LEVEL: "error",
    },
  })
  try {
    const [ada, grace] = [await signUp(ORIGIN, 0), await signUp(ORIGIN, 1)]
    await ask(ada, await startThread(ORIGIN, ada))
    const threads: string[] = []
    for (let at = 0; at < QUESTIONS; at++) threads.push(await startThread(ORIGIN, ada))
    const hers = await startThread(ORIGIN, grace)
    const asking = threads.map((threadId) => ask(ada, threadId))
    const other = await ask(grace, hers)
    const times = await Promise.all(asking)
    return { p50: median(times), slowest: Math.max(...times), other }
  } finally {
    await stopServer(served)
  }
}

/** Milliseconds until the message was stored. */
async function ask({ cookie, address }: Person, threadId: string): Promise<number> {
  const begun = performance.now()
  const response = await fetch(`${ORIGIN}/api/chat`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      prefer: "respond-async",
      origin: ORIGIN,
      cookie,
      "x-forwarded-for": address,
    },
    body: JSON.stringify({
      threadId,
      messages: [{ id: crypto.randomUUID(), role: "user", parts: [{ type: "text", text: "Hello" }] }],
    }),
  })
  if (response.status !== 202) throw new Error(`${response.status} ${await response.text()}`)
  await response.arrayBuffer()
  return performance.now() - begun
}
