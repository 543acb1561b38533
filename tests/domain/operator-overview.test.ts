import { expect, it, onTestFinished } from "vitest"
import { findOverview } from "#server/operator/overview.ts"
import type { BackupSettings } from "#server/backup/scheduled.ts"
import { readConfig, type Config } from "#server/config.ts"
import { uploadFile } from "#server/files/upload.ts"
import { aFile, openFileDrawer } from "../support/file-drawer.ts"

const HOUR = 60 * 60 * 1000

const kept = { directory: "/b/history", days: 7, state: "/b/history.json" }

const scheduled: BackupSettings = {
  schedule: "0 3 * * *",
  directory: "/nowhere",
  recipients: [],
  keep: { newest: 1 },
  proof: "read",
}

it("operators see what is stored, what is free, and how old the newest backup is", async () => {
  const drawer = await openFileDrawer()
  onTestFinished(() => drawer.close())
  await uploadFile(await drawer.scopeOf("ada"), aFile("tides.txt", Buffer.alloc(5000)))
  const look = async (
    backups: { overdue: number; newest: number; copyOverdue?: number } | null,
    config: Partial<Config> = {},
  ) => {
    const scope = {
      ...drawer,
      config: { ...drawer.config, backups: backups && scheduled, history: backups && kept, ...config },
      backups: {
        overdue: () => backups?.overdue ?? 0,
        newest: () => backups?.newest ?? 0,
        copyOverdue: () => backups?.copyOverdue ?? 0,
        newestCopy: () => (backups?.copyOverdue ? 1 : 0),
      },
      history: { behind: () => backups?.overdue ?? 0, since: () => backups?.newest ?? 0 },
      certificate: { current: () => null },
      live: { ready: () => ({ ready: true }), measured: () => [] },
      turns: { process: 0 },
      replies: {
        trouble: { current: () => null },
        abilities: { learned: () => ({ withoutTools: false, context: null }) },
      },
    }
    return (await findOverview(scope as unknown as Parameters<typeof findOverview>[0])).storage
  }
  expect(await look(null)).toMatchObject({ files: 5000, backups: null, history: null })
  const { database, free } = await look(null)
  expect(database).toBeGreaterThan(5_000_000)
  expect(free).toBeGreaterThan(0)
  const plain = { isEncrypted: false, copy: null }
  expect((await look({ overdue: 0, newest: 0 })).backups).toEqual({
    newest: null,
    isOverdue: false,
    ...plain,
  })
  expect((await look({ overdue: HOUR, newest: 1 })).backups).toEqual({
    newest: 1,
    isOverdue: false,
    ...plain,
  })
  expect((await look({ overdue: 4 * HOUR, newest: 1 })).backups).toEqual({
    newest: 1,
    isOverdue: true,
    ...plain,
  })
  const away = readConfig({
    AUTH_SECRET: "s".repeat(32),
    BACKUP_URL: "s3://elsewhere",
    BACKUP_RECIPIENT: "age1a4ewd2x76vhjh9vnewrrxp0xz7nrhk4agsqjwk203g3uxyltmayq2puchh",
  })
  expect((await look({ overdue: 0, newest: 2 }, away)).backups).toBeNull()
  const config = { ...away, backups: scheduled }
  expect((await look({ overdue: 0, newest: 2, copyOverdue: HOUR }, config)).backups).toMatchObject({
    isEncrypted: true,
    copy: { newest: 1, isMissing: false },
  })
  expect(
    (await look({ overdue: 0, newest: 2, copyOverdue: 7 * HOUR }, config)).backups?.copy?.isMissing,
  ).toBe(true)
  expect((await look({ overdue: 0, newest: 0 })).history).toEqual({ since: null, isBehind: false })
  expect((await look({ overdue: HOUR, newest: 1 })).history).toEqual({ since: 1, isBehind: true })
})
