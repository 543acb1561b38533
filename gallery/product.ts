import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { createInterface } from "node:readline"
import postgres from "postgres"
import { startEmbeddedPostgres } from "#db/embedded/postgres.ts"
import { findFreePort } from "../tests/support/ports.ts"
import { openBrowser, postJson } from "../tests/support/people.ts"
import { addSecondFactor } from "../tests/support/second-factor.ts"
import { fillHarbour } from "./content.ts"
import { fillSpace } from "./space.ts"

const root = resolve(import.meta.dirname, "..")

export interface Product {
  origin: string
  /**
   * The cookies of somebody who has files and conversations, and of somebody who has just signed
   * up.
   */
  ada: string
  grace: string
  /** Somebody who can edit in a space of the first. */
  grant: string
  /** URLs that are not known before there is content. */
  thread: string
  share: string
  space: string
  spaceThread: string
  join: string
  stop(): Promise<void>
}

/**
 * The product as it is built, with a database, a folder and people of its own, and something to
 * look at.
 */
export async function serveProduct(): Promise<Product> {
  const folder = mkdtempSync(join(tmpdir(), "tideline-gallery-"))
  const database = await startEmbeddedPostgres({ directory: join(folder, "postgres") })
  const port = await findFreePort()
  const origin = `http://localhost:${port}`
  const child = spawn(process.execPath, [join(root, "server/commands/start.ts")], {
    cwd: folder,
    stdio: ["ignore", "pipe", "inherit"],
    env: {
      NODE_ENV: "production",
      PORT: String(port),
      HOST: "127.0.0.1",
      APP_URL: origin,
      DATA_DIR: join(folder, "data"),
      DATABASE_URL: database.url,
      AUTH_SECRET: "a secret for pictures, and for nothing else",
      ADMIN_EMAILS: "ada@example.org",
      // A model is configured, and never called.
      AI_GATEWAY_BASE_URL: "http://127.0.0.1:11434/v1",
      AI_GATEWAY_API_KEY: "none",
      CHAT_MODEL: "mistral-small",
    },
  })
  const exited = once(child, "exit")
  const stop = async () => {
    child.kill("SIGTERM")
    await exited
    await database.stop()
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    await untilReady(child.stdout)
    const sql = postgres(database.url, { max: 1 })
    const ada = await enter({ origin }, "Ada Lovelace", "ada@example.org")
    // Operators need more than access to a mailbox: a password that its holder set, and a second
    // factor.
    await sql`update auth.user set holder_confirmed = true where email = 'ada@example.org'`
    await addSecondFactor(ada, PASSWORD)
    const grace = await enter({ origin }, "Grace Hopper", "grace@example.org")
    const places = await fillHarbour(sql, ada)
    const grant = await enter({ origin }, "Grant Allen", "grant@example.org")
    await enter({ origin }, "Mary Somerville", "mary.somerville@observatory.example.org")
    const shared = await fillSpace(sql, ada, {
      editor: "grant@example.org",
      reader: "mary.somerville@observatory.example.org",
    })
    await sql.end()
    return {
      origin,
      ada: ada.cookie(),
      grace: grace.cookie(),
      grant: grant.cookie(),
      ...places,
      ...shared,
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

async function untilReady(output: NodeJS.ReadableStream) {
  const lines = createInterface({ input: output })
  for await (const line of lines) {
    if (!line.includes('"Tideline is ready"')) continue
    // Nobody reads the output from now on, and the pipe must not fill up.
    output.resume()
    return
  }
  throw new Error("Tideline ended before it was ready. The reason stands above.")
}

const PASSWORD = "an engine of brass and cards"

async function enter(product: { origin: string }, name: string, email: string) {
  const browser = openBrowser(product)
  const account = { name, email, password: PASSWORD }
  const response = await postJson(browser, "/api/auth/sign-up/email", account)
  if (!response.ok) throw new Error(`Nobody could sign up: ${response.status} ${await response.text()}`)
  // The first page requested creates the record.
  await browser("/dashboard")
  return browser
}
