import { spawn } from "node:child_process"
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import { createInterface } from "node:readline"
import { expect, it, onTestFinished } from "vitest"
import { startTideline } from "../support/app.ts"
import { aFolder } from "../support/backups.ts"
import { runBuiltCommand } from "../support/commands.ts"
import { COMPILE_CACHE } from "../support/compile-cache.ts"
import { signIn, signUp } from "../support/people.ts"

const root = resolve(import.meta.dirname, "../..")

it(
  "the documented drill brings everything back beside the installation, and touches nothing of it",
  { timeout: 180_000 },
  async () => {
    const backups = join(aFolder(), "backups")
    const settings = {
      BACKUP_SCHEDULE: "0 3 1 1 *",
      BACKUP_DIR: backups,
      BACKUP_HISTORY: "7",
      BACKUP_KEEP: "1",
      AUTH_SECRET: "a secret for tests, and for nothing else",
    }
    const app = await startTideline({ DATABASE_URL: "", ...settings })
    onTestFinished(app.stop)
    const ada = await signUp(app, { name: "Ada", email: "ada@example.org" })
    expect(
      (await ada("/api/files?name=tides.txt", { method: "POST", body: "Low water is at five." })).status,
    ).toBe(201)
    await app.logged("took and checked a scheduled backup")
    await expect.poll(() => listBases(backups), { timeout: 30_000 }).toHaveLength(1)
    const env = { ...settings, DATA_DIR: app.dataDir }
    const taken = await runBuiltCommand("backup", [backups], { folder: dirname(app.dataDir), env })
    expect(taken).toMatchObject({ code: 0 })
    // The drill reads the settings of the real installation, as at an operator's.
    const folder = dirname(app.dataDir)
    writeFileSync(
      join(folder, ".env"),
      Object.entries(env)
        .map(([name, value]) => `${name}="${value}"`)
        .join("\n"),
    )
    const before = listPlace(backups)
    const scratch = aFolder()
    mkdirSync(join(scratch, "tmp"))

    const { lines, exited, child } = runDocumented(backups, { folder, tmp: join(scratch, "tmp") })
    await expect.poll(() => originIn(lines) ?? exited(), { timeout: 120_000 }).toMatch(/^http/)
    const drill = { origin: originIn(lines) ?? "" }
    const again = await signIn(drill, { email: "ada@example.org" })
    const { files } = (await (await again("/api/files?limit=10")).json()) as { files: { _id: string }[] }
    expect(await (await again(`/api/files/${files[0]?._id}`)).text()).toBe("Low water is at five.")
    expect(
      (await again("/api/files?name=of the drill.txt", { method: "POST", body: "only here" })).status,
    ).toBe(201)
    child.kill("SIGTERM")
    await expect.poll(exited, { timeout: 60_000 }).toBe(0)
    expect(readdirSync(join(scratch, "tmp"))).toEqual([])
    expect(listPlace(backups)).toEqual(before)
    const { files: own } = (await (await ada("/api/files?limit=10")).json()) as { files: object[] }
    expect(own).toHaveLength(1)
  },
)

/** The command of docs/backup.md, with the programs of the build. */
function runDocumented(backups: string, { folder, tmp }: { folder: string; tmp: string }) {
  const page = readFileSync(join(root, "docs/backup.md"), "utf8")
  const [, words = ""] = /^npm run restore -- (\/var\/backups\/tideline --drill)$/m.exec(page) ?? []
  expect(words).not.toBe("")
  const command = words.replace("/var/backups/tideline", backups).split(" ")
  const child = spawn(process.execPath, [join(root, "build/server/restore.js"), ...command], {
    cwd: folder,
    env: { PATH: process.env["PATH"], TMPDIR: tmp, NODE_COMPILE_CACHE: COMPILE_CACHE },
    stdio: ["ignore", "pipe", "pipe"],
  })
  const lines: string[] = []
  for (const stream of [child.stdout, child.stderr])
    createInterface({ input: stream }).on("line", (line) => lines.push(line))
  return { child, lines, exited: () => child.exitCode }
}

function originIn(lines: string[]): string | undefined {
  return lines
    .map((line) => /"url":"(http[^"]+)".*Tideline is ready|(http:\/\/\S+:\d+)/.exec(line)?.[1])
    .find(Boolean)
}

function listBases(backups: string): string[] {
  const history = join(backups, "history")
  return readdirSync(history)
    .filter((system) => /^\d+$/.test(system))
    .flatMap((system) =>
      existsSync(join(history, system, "base")) ? readdirSync(join(history, system, "base")) : [],
    )
    .filter((name) => !name.startsWith("unfinished"))
}

/** Everything but the log of the installation itself, which goes on. */
function listPlace(backups: string): string[] {
  return readdirSync(backups, { recursive: true })
    .map(String)
    .filter((path) => !/^history\/\d+\/(?:wal|blobs)\b/.test(path))
    .toSorted()
}
