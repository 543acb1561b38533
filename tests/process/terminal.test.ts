import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { stripVTControlCharacters } from "node:util"
import { expect, it, onTestFinished } from "vitest"
import { findFreePort } from "../support/ports.ts"
import { createTestDatabase } from "../support/postgres.ts"
import { openConnection, readAll, statusesOf } from "../support/raw-http.ts"
import { START_TIMEOUT } from "../support/spawn-tideline.ts"

const built = resolve(import.meta.dirname, "../../build/server/index.js")

const START = { timeout: START_TIMEOUT }

it("a start in a terminal prints URLs and, the first time, what to do next; Ctrl+C or closing the terminal stops it", async () => {
  const database = await createTestDatabase()
  const folder = mkdtempSync(join(tmpdir(), "tideline-terminal-"))
  onTestFinished(async () => {
    await database.close()
    rmSync(folder, { recursive: true, force: true })
  })
  const port = await findFreePort()
  const origin = `http://localhost:${port}`

  const first = startInTerminal(folder, { PORT: String(port), DATABASE_URL: database.url })
  await expect.poll(first.text, START).toContain("Stop with Ctrl+C.")
  const lines = first.text().split("\n")
  expect(lines[0]).toBe("Wrote the settings to .env, with new secrets.")
  expect(lines).toContain(`  Tideline is ready: ${origin}`)
  expect(lines).toContainEqual(expect.stringMatching(/^ {2}Emails {4}http:\/\/127\.0\.0\.1:\d+ /))
  expect(lines).toContain(`  1. Create an account at ${origin}/sign-up.`)
  for (const path of ["/sign-up", "/docs/self-hosting"])
    expect([path, (await fetch(origin + path)).status]).toEqual([path, 200])
  await first.pressCtrlC()
  expect(first.text()).toContain("Stopping: running requests finish first.")
  // Neither the log's JSON nor a line for each request.
  expect(first.text()).not.toMatch(/[{}]|200/)

  const second = startInTerminal(folder, { PORT: String(port), DATABASE_URL: database.url })
  await expect.poll(second.text, START).toContain("Stop with Ctrl+C.")
  expect(second.text()).not.toMatch(/First steps|Wrote the settings/)
  const body = "email=grace%40example.org"
  const running = await openConnection(port)
  running.write(
    `POST /waitlist HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, 10)}`,
  )
  await fetch(`${origin}/api/health`) // the previous request has arrived
  const idle = await openConnection(port)
  const answer = readAll(running)
  second.close()
  await readAll(idle)
  running.write(body.slice(10))
  expect(statusesOf(await answer)).toEqual([302])
  await expect.poll(second.exitCode, { timeout: 30_000 }).toBe("0")
})

/** The built server in its own terminal. */
function startInTerminal(folder: string, env: Record<string, string>) {
  const result = join(folder, "exit-code")
  rmSync(result, { force: true })
  // The inner shell outlives a closed terminal, to record how the server ended. The outer one leads
  // the session, and the kernel signals the others only when it dies.
  const inner = `trap : HUP INT; ${process.execPath} ${built}; code=$?; echo $code >${result}; exit $code`
  const command = `trap : INT; sh -c '${inner}'; exit $?`
  const child = spawn("script", ["-qec", command, "/dev/null"], {
    cwd: folder,
    stdio: ["pipe", "pipe", "inherit"],
    env: { PATH: process.env["PATH"], NODE_ENV: "production", MAIL_INBOX_PORT: "0", ...env },
  })
  let output = ""
  child.stdout.on("data", (bytes) => (output += String(bytes)))
  const exited = once(child, "close")
  onTestFinished(async () => {
    child.kill("SIGTERM")
    await exited
  })
  return {
    text: () => stripVTControlCharacters(output).replaceAll("\r", ""),
    async pressCtrlC() {
      child.stdin.write("\u0003")
      expect((await exited)[0]).toBe(0)
    },
    close: () => child.kill("SIGKILL"),
    exitCode: () => (existsSync(result) ? readFileSync(result, "utf8").trim() : null),
  }
}
