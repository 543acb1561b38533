import { mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { expect, it, onTestFinished } from "vitest"
import { inAll } from "../support/all.ts"
import { startTideline, type TidelineApp } from "../support/app.ts"
import { runBuiltCommand } from "../support/commands.ts"
import { openLiveSocket, realtimeToken } from "../support/live.ts"
import { signIn, signUp, type Person } from "../support/people.ts"
import { createTestDatabase } from "../support/postgres.ts"

const LISTED = { query: "users.getOnboardingStatus", args: {} }

it(
  "an installation with its own database is backed up while it runs, and is restored elsewhere",
  { timeout: 180_000 },
  async () => {
    const app = await startTideline({ DATABASE_URL: "" })
    const backups = aFolder()
    const folder = aFolder()
    let old: Person
    let sent = 0
    try {
      old = await signUp(app, { name: "Ada", email: "ada@example.org" })
      let isOver = false
      const writing = (async () => {
        while (!isOver) if ((await upload(old, `${sent}.txt`, `text ${sent}`)).ok) sent++
      })()
      await expect.poll(() => sent, { timeout: 20_000 }).toBeGreaterThan(3)
      const { code, output } = await runBuiltCommand("backup", [backups, "--keep", "1"], {
        folder: dirname(app.dataDir),
        env: { DATA_DIR: app.dataDir },
      })
      isOver = true
      await writing
      // Its folder may have been moved away, and it would write into the restored one.
      const env = { DATA_DIR: join(folder, ".data"), PORT: String(app.port) }
      expect(await runBuiltCommand("restore", [backups], { folder, env })).toEqual({
        code: 1,
        output: expect.stringMatching(/^Port \d+ is in use\. If it is Tideline, stop it before you restore;/),
      })
      expect(readdirSync(folder)).toEqual([])
      expect([code, output]).toEqual([
        0,
        expect.stringMatching(/ has \d+ rows of \d+ tables, and \d+ files' bytes/),
      ])
    } finally {
      await app.stop()
    }

    const env = { DATA_DIR: join(folder, ".data"), PORT: String(app.port) }
    expect(await runBuiltCommand("restore", [backups, "--check"], { folder, env })).toMatchObject({
      code: 0,
      output: expect.stringContaining("is complete"),
    })
    expect(readdirSync(folder)).toEqual([])
    expect(await runBuiltCommand("restore", [backups], { folder, env })).toMatchObject({
      code: 0,
      output: expect.stringContaining("Restored the state of"),
    })
    expect(await runBuiltCommand("files", ["check", "--checksums"], { folder, env })).toMatchObject({
      code: 0,
      // Before that, it lists uploads that were under way at the moment of the backup.
      output: expect.stringMatching(/^(\d+ unfinished uploads? .*\n)?The files and their rows agree\.\n$/),
    })
    // A new secret: the backup does not contain the old one.
    const restored = await startTideline({
      DATABASE_URL: "",
      ...env,
      AUTH_SECRET: "the secret of the new installation",
    })
    try {
      expect(
        (
          await fetch(`${restored.origin}/dashboard`, {
            headers: { cookie: old.cookie() },
            redirect: "manual",
          })
        ).status,
      ).toBe(302)
      const ada = await signIn(restored, { email: "ada@example.org" })
      const { files } = (await (await ada("/api/files?limit=100")).json()) as {
        files: { _id: string; fileName: string }[]
      }
      expect(files.length).toBeGreaterThan(3)
      for (const { _id, fileName } of files) {
        const content = await ada(`/api/files/${_id}`)
        expect(await content.text()).toBe(`text ${fileName.replace(".txt", "")}`)
      }
      const socket = await openLiveSocket(restored, await realtimeToken(ada))
      expect(await socket.subscribe(LISTED.query, LISTED.args)).toMatchObject({ refused: [] })
      socket.close()
    } finally {
      await restored.stop()
    }
  },
)

inAll(
  "a client of the backed-up installation reads everything again from the restored one",
  { timeout: 120_000 },
  async () => {
    const database = await createTestDatabase()
    onTestFinished(() => database.close())
    const backups = aFolder()
    const app = await startTideline({ DATABASE_URL: database.url })
    let before: string
    try {
      before = await epochOf(app, await signUp(app, { name: "Ada", email: "ada@example.org" }))
      const env = { DATA_DIR: app.dataDir, DATABASE_URL: database.url }
      expect(await runBuiltCommand("backup", [backups], { folder: dirname(app.dataDir), env })).toMatchObject(
        { code: 0 },
      )
    } finally {
      await app.stop()
    }
    // On the same PostgreSQL, so that the log continues: another cluster would mean another epoch
    // anyway.
    const other = await createTestDatabase({ empty: true })
    onTestFinished(() => other.close())
    const env = { DATA_DIR: join(aFolder(), ".data"), DATABASE_URL: other.url }
    expect(await runBuiltCommand("restore", [backups], { folder: aFolder(), env })).toMatchObject({ code: 0 })
    const restored = await startTideline(env)
    try {
      expect(await epochOf(restored, await signIn(restored, { email: "ada@example.org" }))).not.toBe(before)
    } finally {
      await restored.stop()
    }
  },
)

async function epochOf(app: TidelineApp, person: Person): Promise<string> {
  const socket = await openLiveSocket(app, await realtimeToken(person))
  await socket.subscribe(LISTED.query, LISTED.args)
  const snapshot = (await socket.until(({ name }) => name === "snapshot")) as { position: { epoch: string } }
  socket.close()
  return snapshot.position.epoch
}

function upload(person: Person, name: string, text: string) {
  const form = new FormData()
  form.set("file", new File([text], name))
  return person("/api/files", { method: "POST", body: form })
}

function aFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "backup-"))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
