import { readFileSync } from "node:fs"
import { join } from "node:path"
import postgres from "postgres"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { startTideline, type TidelineApp } from "../support/app.ts"
import { openGate, type Gate } from "../support/gate.ts"
import { signIn, signUp } from "../support/people.ts"
import { findFreePort } from "../support/ports.ts"
import { createTestDatabase } from "../support/postgres.ts"
import { withResource } from "../support/with-resource.ts"
import packageJson from "../../package.json" with { type: "json" }

let app: TidelineApp
const database = withResource(createTestDatabase)
let toDatabase: Gate
let ops: string

beforeAll(async () => {
  toDatabase = await openGate()
  const address = new URL(database.url)
  toDatabase.leadTo(Number(address.port))
  address.host = new URL(toDatabase.origin).host
  const port = await findFreePort()
  ops = `http://127.0.0.1:${port}`
  app = await startTideline({ DATABASE_URL: address.href, OPS_PORT: String(port) })
})

afterAll(async () => {
  await app.stop()
  await toDatabase.close()
})

describe("the port for probes", () => {
  it("reports that the process is alive and ready, however often it is asked", async () => {
    for (let probe = 0; probe < 50; probe++) expect((await fetch(`${ops}/livez`)).status).toBe(200)
    await expect
      .poll(readReadiness)
      .toEqual({ ready: true, checks: { database: "ok", records: "ok", emails: "ok", model: "ok" } })
  })

  it("counts requests by route pattern, and never by URL", async () => {
    await fetch(`${app.origin}/blog/everything-in-one-process`)
    await fetch(`${app.origin}/no-such-page-12345`)
    await fetch(`${app.origin}/favicon.svg`)
    await expect
      .poll(readMetrics)
      .toMatch(
        /tideline_http_request_duration_seconds_count\{method="GET",route="\/blog\/:slug",status="200"\} 1/,
      )
    const metrics = await readMetrics()
    expect(metrics).toMatch(/_count\{method="GET",route="file",status="200"\} 1/)
    expect(metrics).not.toContain("12345")
  })

  it("reports the record stream, the event loop and work in progress in the Prometheus format", async () => {
    const ada = await signUp(app, { name: "Ada", email: "ada@example.org" })
    expect((await ada("/api/files")).status).toBe(200) // creates their record
    await expect
      .poll(readMetrics, { timeout: 15_000 })
      .toMatch(/^tideline_realtime_transactions_total [1-9]/m)
    const metrics = await readMetrics()
    for (const name of [
      "tideline_realtime_connections",
      "tideline_realtime_stream_lag_ms",
      "tideline_nodejs_eventloop_lag_seconds",
      "tideline_chat_turns_running",
      "tideline_eventloop_utilization",
      "tideline_http_connections_open",
      "tideline_http_connections_waiting",
      'tideline_http_connections_refused_total{reason="address"}',
      'tideline_realtime_resets_total{reason="slow"}',
      'tideline_realtime_refused_total{reason="origin"}',
      'tideline_chat_turns_ended_total{status="completed"}',
      'tideline_queued{kind="uploads"}',
      'tideline_files_bytes{state="used"}',
      'tideline_outbox_emails{state="queued"}',
      "tideline_outbox_oldest_seconds",
    ]) {
      expect(metrics).toMatch(new RegExp(`^${name.replaceAll(/[{}]/g, String.raw`\$&`)} [0-9.e+-]+$`, "m"))
    }
    for (const line of metrics.split("\n")) {
      // NaN if nothing was measured since the last time: Prometheus reads it in any capitalisation.
      expect(line).toMatch(
        /^$|^# (HELP|TYPE) [a-z0-9_]+ .+$|^[a-z0-9_]+(\{[^{}]*\})? (-?[0-9.e+-]+|Na[nN]|\+Inf)$/,
      )
    }
  })

  it("reports the version and the commit that it was built from", async () => {
    const labels = /^tideline_build_info\{version="([^"]+)",commit="(unknown|[0-9a-f]{40})"\} 1$/m
    expect(labels.exec(await readMetrics())?.[1]).toBe(packageJson.version)
  })

  it.each(["ops/grafana/tideline.json", "ops/prometheus/alerts.yml", "docs/operations.md"])(
    "has every metric that %s names, with its labels",
    async (path) => {
      const metrics = await readMetrics()
      const text = readFileSync(join(import.meta.dirname, "../..", path), "utf8")
      const lines = metrics.split("\n")
      const has = (pattern: RegExp) => lines.some((line) => pattern.test(line))
      const names = new Set([...text.matchAll(/\btideline_[a-z0-9_]+[a-z0-9]\b/g)].map(([name]) => name))
      expect(names.size).toBeGreaterThan(10)
      expect([...names].filter((name) => !has(new RegExp(`^${name}(_count)?[ {]`)))).toEqual([])

      const selectors = text.replaceAll('\\"', '"').matchAll(/\b(tideline_[a-z0-9_]+)\{([^{}]*)\}/g)
      const labels = [...selectors].flatMap(([, name = "", matchers = ""]) =>
        [...matchers.matchAll(/([a-z_]+)[!=]?[=~]"/g)].map(([, label = ""]) => `${name} ${label}`),
      )
      const missing = labels.filter((each) => {
        const [name, label] = each.split(" ")
        return label !== "instance" && !has(new RegExp(`^${name}\\{[^}]*\\b${label}="`))
      })
      expect(missing).toEqual([])
    },
  )

  it("counts sign-ins by what they were made with, and refused ones not", async () => {
    const mary = await signUp(app, { name: "Mary", email: "mary@example.org" })
    await signIn(app, mary)
    await expect(signIn(app, { email: mary.email, password: "a wrong guess at it" })).rejects.toThrow("401")
    const metrics = await readMetrics()
    expect(metrics).toContain('tideline_sign_ins_total{way="password"} 1')
    expect(metrics).toContain('tideline_sign_ins_total{way="provider"} 0')
  })

  it("does not count finished uploads", async () => {
    const grace = await signUp(app, { name: "Grace", email: "grace@example.org" })
    const headers = { "Tus-Resumable": "1.0.0", "Upload-Metadata": "filename YS50eHQ=" }
    for (const length of ["0", "5"]) {
      const created = await grace("/api/files/uploads", {
        method: "POST",
        headers: { ...headers, "Upload-Length": length },
      })
      expect(created.status).toBe(201)
    }
    expect(await readMetrics()).toMatch(/^tideline_queued\{kind="uploads"\} 1$/m)
  })

  it("serves nothing else, and is not the application's port", async () => {
    expect((await fetch(`${ops}/`)).status).toBe(404)
    expect((await fetch(`${ops}/livez`, { method: "POST" })).status).toBe(405)
    expect((await fetch(`${app.origin}/metrics`, { redirect: "manual" })).status).toBe(302)
  })

  it("reports waiting emails, which do not make a process unready", async () => {
    const sql = postgres(database.url, { max: 1 })
    const hour = 60 * 60 * 1000
    await sql`delete from mail_outbox`
    await sql`
      insert into mail_outbox (_creation_time, kind, cause, recipient, message_id, subject, text, html, state, next_attempt_at)
      values (${Date.now() - hour}, 'welcome', 'a', 'a@example.org', '<a@x>', 's', 't', 'h', 'queued', ${Date.now() + hour}),
        (${Date.now() - hour}, 'welcome', 'b', 'b@example.org', '<b@x>', 's', 't', 'h', 'parked', ${Date.now()})`
    const checks = { database: "ok", records: "ok", emails: "1 wait, 1 were given up", model: "ok" }
    expect(await readReadiness()).toEqual({ ready: true, checks })
    const metrics = await readMetrics()
    expect(metrics).toMatch(/^tideline_outbox_emails\{state="queued"\} 1$/m)
    expect(metrics).toMatch(/^tideline_outbox_emails\{state="parked"\} 1$/m)
    expect(Number(/^tideline_outbox_oldest_seconds (.+)$/m.exec(metrics)?.[1])).toBeGreaterThan(3000)
    await sql`delete from mail_outbox`
    await sql.end()
  })

  it("reports a process without its database as alive but not ready, and as ready once it is back", async () => {
    toDatabase.shut()
    await expect.poll(readReadiness, { timeout: 15_000 }).toMatchObject({ ready: false })
    expect((await fetch(`${ops}/livez`)).status).toBe(200)
    const metrics = await readMetrics()
    expect(metrics).toContain("tideline_nodejs_eventloop_lag_seconds")
    expect(metrics).not.toContain("tideline_queued{")
    expect(metrics).not.toMatch(/^tideline_outbox_oldest_seconds /m)
    toDatabase.open()
    await expect.poll(readReadiness, { timeout: 30_000 }).toMatchObject({ ready: true })
  })
})

async function readMetrics() {
  const response = await fetch(`${ops}/metrics`)
  expect(response.headers.get("content-type")).toContain("text/plain; version=0.0.4")
  return response.text()
}

async function readReadiness(): Promise<unknown> {
  const response = await fetch(`${ops}/readyz`)
  const body = (await response.json()) as { ready: boolean }
  expect(response.status).toBe(body.ready ? 200 : 503)
  return body
}
