import { execFileSync, spawn } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { resolve } from "node:path"
import { createInterface } from "node:readline"
import { describe, expect, it, onTestFinished } from "vitest"
import { withTideline } from "../support/with-tideline.ts"

const root = resolve(import.meta.dirname, "../..")
const page = readFileSync(resolve(root, "docs/realtime-protocol.md"), "utf8")

const { app } = withTideline()

describe("docs/realtime-protocol.md", () => {
  it("leads from sign-up to the first event, by its commands and its page of code", async () => {
    // Beside the modules, where the client finds socket.io-client.
    const folder = mkdtempSync(resolve(root, "node_modules/.documented-client-"))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const script = blockOf("sh")
      .replace("http://localhost:3000", app.origin)
      .replace("| jq -r .key", `| ${jq}`)
    const output = execFileSync("bash", ["-e", "-c", `${script}\necho; echo "KEY=$KEY"`], {
      cwd: folder,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    })
    const key = /KEY=(\S+)/.exec(output)?.[1] ?? ""
    expect(output).toContain('"expiresAt"')

    const file = resolve(folder, "documented-client.mjs")
    writeFileSync(file, blockOf("js"))
    const child = spawn(process.execPath, [file], {
      env: { PATH: process.env["PATH"], TIDELINE: app.origin, KEY: key },
      stdio: ["ignore", "pipe", "inherit"],
    })
    onTestFinished(() => void child.kill())
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
    await lineWith(lines, "snapshot []")
    await fetch(`${app.origin}/api/files?name=notes.txt`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}` },
      body: "hello",
    })
    await lineWith(lines, "commit [")
    await lineWith(lines, "fileName: 'notes.txt'")
  })
})

describe("npm run live -- --list", () => {
  it("prints the queries and mutations of the running server", () => {
    const printed = listOf(app.origin)
    expect(printed).toContain("  files.list { spaceId?, after? }\n    The caller's files outside the trash")
    expect(printed).toContain("  chat.renameThread { threadId, title }\n")
    expect(printed.indexOf("Mutations")).toBeGreaterThan(printed.indexOf("files.list"))
  })

  it("says how to name another server if none responds", () => {
    expect(() => listOf("http://127.0.0.1:1")).toThrow("Set TIDELINE_URL")
  })
})

/** In place of jq, which not every machine has. */
const jq = `${process.execPath} -e 'process.stdin.on("data", (text) => console.log(JSON.parse(text).key))'`

function blockOf(language: string): string {
  const block = new RegExp("^```" + language + "\\n([\\s\\S]*?)^```", "m").exec(page)?.[1]
  if (!block) throw new Error(`The page has no block of ${language}.`)
  return block
}

async function lineWith(lines: AsyncIterator<string>, text: string): Promise<void> {
  for (;;) {
    const { value, done } = await lines.next()
    if (done) throw new Error(`The client ended without printing ${text}`)
    if (value.includes(text)) return
  }
}

function listOf(origin: string): string {
  return execFileSync(process.execPath, [resolve(root, "server/commands/live.ts"), "--list"], {
    env: { PATH: process.env["PATH"], TIDELINE_URL: origin },
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  })
}
