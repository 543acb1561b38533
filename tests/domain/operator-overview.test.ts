import { expect, it, onTestFinished } from "vitest"
import { findOverview } from "#server/operator/overview.ts"
import type { BackupSettings } from "#server/backup/scheduled.ts"
import { uploadFile } from "#server/files/upload.ts"
import { aFile, openFileDrawer } from "../support/file-drawer.ts"

const HOUR = 60 * 60 * 1000

const kept = { directory: "/b/history", days: 7 }

const scheduled: BackupSettings = {
  schedule: "0 3 * * *",
  directory: "/nowhere",
  keep: { newest: 1 },
  proof: "read",
}

it("operators see what is stored, what is free, and how old the newest backup is", async () => {
  const drawer = await openFileDrawer()
  onTestFinished(() => drawer.close())
  await uploadFile(await drawer.scopeOf("ada"), aFile("tides.txt", Buffer.alloc(5000)))
  const look = async (backups: { overdue: number; newest: number } | null) => {
    const scope = {
      ...drawer,
      config: { ...drawer.config, backups: backups && scheduled, history: backups && kept },
      backups: { overdue: () => backups?.overdue ?? 0, newest: () => backups?.newest ?? 0 },
      history: { behind: () => backups?.overdue ?? 0, since: () => backups?.newest ?? 0 },
      certificate: { current: () => null },
      live: { ready: () => ({ ready: true }), measured: () => [] },
      turns: { process: 0 },
      replies: { trouble: { current: () => null } },
    }
    return (await findOverview(scope as unknown as Parameters<typeof findOverview>[0])).storage
  }
  expect(await look(null)).toMatchObject({ files: 5000, backups: null, history: null })
  const { database, free } = await look(null)
  expect(database).toBeGreaterThan(5_000_000)
  expect(free).toBeGreaterThan(0)
  expect((await look({ overdue: 0, newest: 0 })).backups).toEqual({ newest: null, isOverdue: false })
  expect((await look({ overdue: HOUR, newest: 1 })).backups).toEqual({ newest: 1, isOverdue: false })
  expect((await look({ overdue: 4 * HOUR, newest: 1 })).backups).toEqual({ newest: 1, isOverdue: true })
  expect((await look({ overdue: 0, newest: 0 })).history).toEqual({ since: null, isBehind: false })
  expect((await look({ overdue: HOUR, newest: 1 })).history).toEqual({ since: 1, isBehind: true })
})
