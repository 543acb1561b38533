import { gzipSync } from "node:zlib"
import postgres from "postgres"
import { signUpAll, type Person } from "../accounts.ts"
import { cpuOf, memoryOf, startServer, stopServer } from "../http/processes.ts"
import type { Figures } from "../medians.ts"

interface Stage {
  databaseUrl: string
  /** The application's working directory. */
  folder: string
  server: string
}

/** Each is asked for by a visitor, or by people who are signed in. */
const PAGES = {
  "/": { path: "/", signedIn: false },
  "/features": { path: "/features", signedIn: false },
  "/ of somebody signed in": { path: "/", signedIn: true },
  "/dashboard": { path: "/dashboard", signedIn: true },
  "/dashboard/chat": { path: "/dashboard/chat", signedIn: true },
  "/dashboard/files": { path: "/dashboard/files", signedIn: true },
  "/api/files": { path: "/api/files", signedIn: true },
  "/api/health": { path: "/api/health", signedIn: false },
}

/** Requests that are always under way. */
const AT_ONCE = 20
const PORT = 3979
const ORIGIN = `http://localhost:${PORT}`

/**
 * CPU time of the server for a request to each page, the bytes of script that the page loads, and
 * the server's start and memory.
 */
export async function measurePages(
  { databaseUrl, folder, server }: Stage,
  seconds: number,
): Promise<Map<string, Figures>> {
  const measured = new Map<string, Figures>()
  const served = await startServer([server], {
    port: PORT,
    path: "/api/health",
    cwd: folder,
    env: {
      PORT: String(PORT),
      HOST: "127.0.0.1",
      TRUSTED_PROXIES: "1",
      DATABASE_URL: databaseUrl,
      AUTH_SECRET: "a secret for measuring, and for nothing else",
      MAIL_INBOX_PORT: "0",
      LOG_LEVEL: "error",
    },
  })
  const pid = served.child.pid ?? 0
  const sql = postgres(databaseUrl, { max: 1, onnotice() {} })
  try {
    measured.set("start", { ms: served.startedIn, memory: memoryOf(pid) })
    const people = await signUpAll(ORIGIN)
    for (const person of people) await ask("/onboarding", person)
    await sql`update users set onboarding_completed = true`
    for (const [name, { path, signedIn }] of Object.entries(PAGES)) {
      const visitors = signedIn ? people : [null]
      const page = await ask(path, visitors[0])
      await load(path, visitors, 1)
      const before = cpuOf(pid)
      const answered = await load(path, visitors, seconds)
      measured.set(name, { cpu: (cpuOf(pid) - before) / answered, ...(await measureScripts(page)) })
    }
  } finally {
    await sql.end()
    await stopServer(served)
  }
  return measured
}

/** Resolves to the number of requests that were answered. */
async function load(path: string, visitors: readonly (Person | null)[], seconds: number): Promise<number> {
  const end = performance.now() + seconds * 1000
  let answered = 0
  await Promise.all(
    Array.from({ length: AT_ONCE }, async (_, first) => {
      for (let turn = first; performance.now() < end; turn++) {
        await ask(path, visitors[turn % visitors.length])
        answered++
      }
    }),
  )
  return answered
}

let asked = 0

/** Each request comes from an address of its own, as those of one are limited. */
async function ask(path: string, person: Person | null | undefined): Promise<string> {
  asked++
  const address = `10.${(asked >> 16) & 255}.${(asked >> 8) & 255}.${asked & 255}`
  const response = await fetch(ORIGIN + path, {
    headers: { "x-forwarded-for": address, ...(person && { cookie: person.cookie }) },
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${path} was answered with ${response.status}.`)
  return text
}

/** Bytes, compressed, of the scripts that the page names. */
async function measureScripts(page: string): Promise<Figures> {
  if (!page.startsWith("<!DOCTYPE html>")) return {}
  const addresses = new Set(Array.from(page.matchAll(/"(\/assets\/[^"]+\.js)"/g), ([, address]) => address))
  let bytes = 0
  for (const address of addresses) bytes += gzipSync(await ask(address ?? "", null)).length
  return { script: bytes }
}
