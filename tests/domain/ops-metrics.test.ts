import { pino } from "pino"
import { expect, it, onTestFinished } from "vitest"
import { readConfig } from "#server/config.ts"
import { createOpsMetrics } from "#server/ops/metrics.ts"
import { createTestDatabase } from "../support/postgres.ts"

it("concurrent metric scrapes do not take values from each other", async () => {
  const database = await createTestDatabase()
  onTestFinished(() => database.close())
  const scope = {
    probe: database.db,
    log: pino({ level: "silent" }),
    live: { measured: () => [] },
    replies: { trouble: { current: () => null } },
    turns: { count: () => 0, ended: () => ({}) },
    config: readConfig({ AUTH_SECRET: "a secret for tests, and for nothing else" }),
    certificate: { current: () => ({ host: "localhost", expiresAt: 11_000_000, refusal: null }) },
    backups: { overdue: () => 5000, newest: () => 0, copyOverdue: () => 7000 },
    history: { behind: () => 7000, since: () => 9000 },
    identity: { countSignIns: () => ({ password: 2, provider: 1 }) },
  } as unknown as Parameters<typeof createOpsMetrics>[0]
  let second: Promise<string> | undefined
  const metrics = createOpsMetrics(scope, {
    // Requested while the first scrape is being written.
    open() {
      second ??= metrics.read()
      return 1
    },
    waiting: () => 0,
    refused: () => ({ address: 0, full: 0 }),
  })
  for (const text of [await metrics.read(), await second]) {
    expect(text).toContain('tideline_queued{kind="turns"} 0')
    expect(text).toContain('tideline_sign_ins_total{way="provider"} 1')
    expect(text).toContain('tideline_outbox_emails{state="parked"} 0')
    expect(text).toContain("tideline_backup_overdue_seconds 5\n")
    expect(text).toContain("tideline_backup_copy_overdue_seconds 7\n")
    expect(text).toContain("tideline_history_behind_seconds 7\n")
    expect(text).toContain("tideline_history_since_time_seconds 9\n")
  }
})
