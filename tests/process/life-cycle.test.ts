import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs"
import { createServer } from "node:http"
import { tmpdir } from "node:os"
import { once } from "node:events"
import { join } from "node:path"
import { parseEnv } from "node:util"
import { sql } from "drizzle-orm"
import { describe, expect, it, onTestFinished } from "vitest"
import { openDatabase } from "#db/client.ts"
import { inAll } from "../support/all.ts"
import { startTideline } from "../support/app.ts"
import { spawnTideline } from "../support/spawn-tideline.ts"
import { portOf } from "../support/port-of.ts"
import { findFreePort } from "../support/ports.ts"
import { createTestDatabase } from "../support/postgres.ts"
import { openConnection, readAll, statusesOf } from "../support/raw-http.ts"

const EMBEDDED = { DATABASE_URL: "" }

describe("the first start", () => {
  it("writes the settings to a file that only its owner can read, with a secret of its own", async () => {
    const folder = emptyFolder()
    const settings = {
      AUTH_SECRET: undefined,
      AI_GATEWAY_API_KEY: undefined,
      PORT: String(await findFreePort()),
    }
    const server = spawnTideline(folder, settings)
    onTestFinished(() => end(server))
    await server.logged("Tideline is ready")

    const file = join(folder, ".env")
    expect(statSync(file).mode & 0o777).toBe(0o600)
    const written = parseEnv(readFileSync(file, "utf8"))
    expect(Buffer.from(written["AUTH_SECRET"] ?? "", "base64").byteLength).toBe(32)
    expect(written["AI_GATEWAY_API_KEY"]).toBe("embedded")
    expect(server.log.join("\n")).not.toContain(written["AUTH_SECRET"])
  })

  inAll("leaves an existing file alone", async () => {
    const folder = emptyFolder()
    const database = await createTestDatabase()
    onTestFinished(() => database.close())
    const settings = { AUTH_SECRET: undefined, DATABASE_URL: database.url }
    const first = spawnTideline(folder, { ...settings, PORT: String(await findFreePort()) })
    await first.logged("Tideline is ready")
    await end(first)
    const written = readFileSync(join(folder, ".env"), "utf8")
    const second = spawnTideline(folder, { ...settings, PORT: String(await findFreePort()) })
    await second.logged("Tideline is ready")
    await end(second)
    expect(readFileSync(join(folder, ".env"), "utf8")).toBe(written)
  })
})

describe("a start that fails", () => {
  it("names every wrong setting and exits with 1", async () => {
    const server = spawnTideline(emptyFolder(), {
      PORT: "high",
      SMTP_URL: "nowhere",
      DATABASE_URL: "secret-in-a-bad-address",
    })
    expect(await server.exited).toBe(1)
    const output = server.log.join("\n")
    expect(output).toContain("PORT must be a whole number")
    expect(output).toContain("SMTP_URL must be an address")
    expect(output).toContain("DATABASE_URL must be an address")
    expect(output).not.toContain("secret-in-a-bad-address")
    expect(output).not.toMatch(/^\s+at /m)
  })

  it("says that the port is taken, and leaves nothing behind", async () => {
    const other = createServer().listen(0, "127.0.0.1")
    onTestFinished(() => void other.close())
    await once(other, "listening")
    const folder = emptyFolder()
    const port = String(portOf(other))
    const server = spawnTideline(folder, { PORT: port, ...EMBEDDED })
    expect(await server.exited).toBe(1)
    expect(server.log.join("\n")).toContain(
      `Port ${port} is in use by another program. Stop that, or set PORT to another number.`,
    )

    const again = spawnTideline(folder, { PORT: String(await findFreePort()), ...EMBEDDED })
    await again.logged("Tideline is ready")
    await end(again)
  })

  inAll("says that another process uses the same data, and does not disturb it", async () => {
    const folder = emptyFolder()
    const first = spawnTideline(folder, { PORT: String(await findFreePort()), ...EMBEDDED })
    onTestFinished(() => end(first))
    const { url } = await first.logged("Tideline is ready")
    const second = spawnTideline(folder, { PORT: String(await findFreePort()), ...EMBEDDED })
    expect(await second.exited).toBe(1)
    expect(second.log.join("\n")).toContain(
      `Another Tideline (process ${first.child.pid}) runs with this data`,
    )
    expect((await fetch(`${String(url)}/api/health`)).status).toBe(200)
  })

  it("says that the database does not respond", async () => {
    const port = await findFreePort()
    const server = spawnTideline(emptyFolder(), {
      PORT: String(await findFreePort()),
      DATABASE_URL: `postgres://user:tell-nobody@127.0.0.1:${port}/tideline`,
    })
    expect(await server.exited).toBe(1)
    expect(server.log.join("\n")).toMatch(/DATABASE_URL/)
    expect(server.log.join("\n")).not.toContain("tell-nobody")
  })
})

describe("the process", () => {
  it("starts again on its data after kill -9, with everything that was acknowledged", async () => {
    const folder = emptyFolder()
    const first = spawnTideline(folder, { PORT: String(await findFreePort()), ...EMBEDDED })
    const { url } = await first.logged("Tideline is ready")
    expect((await joinWaitlist(String(url), "ada@example.org")).status).toBe(302)
    first.child.kill("SIGKILL")
    await first.exited

    const second = spawnTideline(folder, { PORT: String(await findFreePort()), ...EMBEDDED })
    onTestFinished(() => end(second))
    await second.logged("Tideline is ready")
    const { url: databaseUrl } = JSON.parse(
      readFileSync(join(folder, ".data/postgres/owner.json"), "utf8"),
    ) as { url: string }
    const { db, close } = openDatabase(databaseUrl)
    onTestFinished(() => close())
    expect([...(await db.execute(sql`select email from waitlist`))]).toEqual([{ email: "ada@example.org" }])
  })

  it("finishes running work when told to stop, accepts nothing new, and exits with 0", async () => {
    const database = await createTestDatabase()
    onTestFinished(() => database.close())
    const app = await startTideline({ DATABASE_URL: database.url })
    const body = "email=grace%40example.org"
    const running = await openConnection(app.port)
    const idle = await openConnection(app.port)
    running.write(
      `POST /waitlist HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, 10)}`,
    )
    await fetch(`${app.origin}/api/health`) // the previous request has arrived
    process.kill(app.pid, "SIGTERM")
    await readAll(idle) // exits, because nothing was running on it
    await expect(openConnection(app.port)).rejects.toThrow(/ECONNREFUSED/)

    const answer = readAll(running)
    running.write(body.slice(10))
    expect(statusesOf(await answer)).toEqual([302])
    expect(await answer).toMatch(/^connection: close/im)
    expect(await app.exited).toBe(0)
    expect([...(await database.db.execute(sql`select email from waitlist`))]).toEqual([
      { email: "grace@example.org" },
    ])
    await app.stop()
  })

  it("keeps accepting requests for a while before it stops, and reports early that it is draining", async () => {
    const ops = await findFreePort()
    const app = await startTideline({ DRAIN_DELAY: "3", OPS_PORT: String(ops) })
    const kept = await openConnection(app.port)
    const answers = readAll(kept)
    kept.write("GET /api/health HTTP/1.1\r\nHost: localhost\r\n\r\n")
    await once(kept, "data")
    process.kill(app.pid, "SIGTERM")
    await app.logged("draining: /readyz fails, and requests are still accepted")

    expect(await (await fetch(`http://127.0.0.1:${ops}/readyz`)).json()).toEqual({
      ready: false,
      stopping: true,
    })
    expect((await fetch(`${app.origin}/api/health`)).headers.get("connection")).toBe("close")
    kept.write("GET /api/health HTTP/1.1\r\nHost: localhost\r\n\r\n")
    expect((await answers).match(/HTTP\/1\.1 200 OK/g)).toHaveLength(2)
    expect(await answers).toMatch(/^connection: close/im)
    expect(await app.exited).toBe(0)
    await app.stop()
  })

  it("exits immediately on a second signal", async () => {
    const app = await startTideline()
    onTestFinished(() => app.stop())
    const running = await openConnection(app.port)
    running.write(
      "POST /waitlist HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 10\r\n\r\n12345",
    )
    // The server has begun to process it.
    await once(running, "data")
    const closed = readAll(running)
    process.kill(app.pid, "SIGINT")
    await app.logged("stopping; finishing running requests")
    process.kill(app.pid, "SIGINT")
    expect(await app.exited).toBe(130)
    await closed
  })
})

function emptyFolder() {
  const folder = mkdtempSync(join(tmpdir(), "tideline-start-"))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

async function end(server: ReturnType<typeof spawnTideline>) {
  server.child.kill("SIGTERM")
  await server.exited
}

function joinWaitlist(origin: string, email: string) {
  return fetch(`${origin}/waitlist`, {
    method: "POST",
    body: new URLSearchParams({ email }),
    redirect: "manual",
  })
}
