import { mkdirSync, rmSync } from "node:fs"
import { join, resolve } from "node:path"
import { createInterface } from "node:readline"
import * as v from "valibot"
import { startReplicaSet, type ReplicaSet } from "#db/embedded/replica-set.ts"
import type { ReplicaNode } from "#db/embedded/replica-node.ts"
import { openLocalInbox } from "#server/adapters/mail/local-inbox.ts"
import { readArguments } from "./arguments.ts"
import { buildApp, builtServer, isOutOfDate } from "./bundle.ts"
import { openBalancer, type Balancer } from "./cluster/balancer.ts"
import { startMembers, type Members } from "./cluster/members.ts"
import { readSettings } from "./database.ts"
import { runCommand } from "./run-command.ts"

// `npm run cluster`: a primary, two standbys, three processes and a proxy on this machine, to see
// what happens when a part of it fails.

const USAGE = `Usage: npm run cluster -- [--port <number>]

  Starts three PostgreSQL servers (a is the primary, b and c are its standbys), three processes and a proxy on this machine,
  with new data that is removed at the end. Everything else is as in .env. Then it reads commands.

  --port <number>   the proxy's port; the ports after it are used too (default: 3000)
`

const COMMANDS = `
  status              who is the primary, and which processes are ready
  kill <server>       SIGKILL to all its processes: the machine loses its power
  pause <server>      SIGSTOP to all its processes: the machine hangs
  resume <server>     goes on after pause
  promote <server>    makes a standby the primary; the other one follows it
  rejoin <server>     a dead or replaced server starts over as a standby
  delay <server> <s>  replays each commit that many seconds late; 0 ends it
  quit                stops everything
`

const root = resolve(import.meta.dirname, "../..")

const Command = v.pipe(
  readArguments({ port: { type: "string" } }, USAGE),
  v.object({
    positionals: v.tuple([], USAGE),
    values: v.object({
      port: v.optional(v.pipe(v.string(), v.regex(/^\d{2,5}$/, USAGE), v.transform(Number)), "3000"),
    }),
  }),
)

const ACTS: Record<string, (node: ReplicaNode, set: ReplicaSet, value?: string) => Promise<void> | void> = {
  kill: (node) => node.kill(),
  pause: (node) => node.pause(),
  resume: (node) => node.resume(),
  promote: (node, set) => set.failOver(node),
  rejoin: (node, set) => set.rejoin(node),
  delay: (node, _set, value) => node.delayReplay(Number(value ?? 0) * 1000),
}

/** A commit is acknowledged once a standby has it, so that promoting that one loses none. */
const SAFE = { synchronous_standby_names: "any 1 (a, b, c)" }

await runCommand(Command, USAGE, async ({ values: { port } }) => {
  const { dataDir } = readSettings(root)
  if (isOutOfDate(root)) {
    say("Building Tideline. This takes a moment, and is needed only after a change.")
    await buildApp(root)
  }
  const folder = join(dataDir, `cluster-${process.pid}`)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const opened: (() => Promise<void> | void)[] = [() => rmSync(folder, { recursive: true, force: true })]
  try {
    say("Starting the primary a and its standbys b and c.")
    // The processes' ports follow the proxy's, and the servers' follow those.
    const ports = [0, 1, 2].map((at) => port + 7 + at)
    const set = await startReplicaSet({
      directory: join(folder, "postgres"),
      standbys: 2,
      ports,
      settings: SAFE,
    })
    opened.push(() => set.stop())
    const inbox = await openLocalInbox({ port: port + 10, directory: join(folder, "inbox") })
    opened.push(inbox.close)
    const backends = [1, 2, 3].map((at) => ({ port: port + at, ops: port + 3 + at }))
    const balancer = await openBalancer(backends, port)
    opened.push(() => balancer.close())
    say("Starting three processes.")
    const members = startMembers({
      root,
      server: builtServer(root),
      folder,
      backends,
      origin: balancer.origin,
      databaseUrl: set.url,
      followedUrls: set.nodes.map(({ url }) => url),
      smtpUrl: inbox.smtpUrl,
    })
    opened.push(() => members.stop())
    await balancer.whenReady(backends.length)
    say(
      `\n  Tideline is ready: ${balancer.origin}\n  Emails: ${inbox.url}\n  The servers: ${balancer.origin}/admin/servers (for an address in ADMIN_EMAILS)\n${COMMANDS}`,
    )
    await describe(set, members, balancer)
    await readCommands(set, members, balancer)
  } finally {
    say("Stopping.")
    for (const stop of opened.toReversed()) await stop()
  }
})

/** Until `quit`, Ctrl+C or the end of the input. */
async function readCommands(set: ReplicaSet, members: Members, balancer: Balancer): Promise<void> {
  const lines = createInterface({ input: process.stdin })
  const stop = () => lines.close()
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, stop)
  for await (const line of lines) {
    const [word = "", name = "", value] = line.trim().split(/\s+/)
    if (word === "quit") break
    if (word === "") continue
    try {
      await perform(set, word, name, value)
      await describe(set, members, balancer)
    } catch (error) {
      say(error instanceof Error ? error.message : String(error))
    }
  }
  lines.close()
}

async function perform(set: ReplicaSet, word: string, name: string, value?: string): Promise<void> {
  if (word === "status") return
  const node = set.nodes.find((each) => each.name === name)
  const act = ACTS[word]
  if (!act) throw new Error(COMMANDS)
  if (!node) throw new Error(`There is no server ${name || "without a name"}. They are a, b and c.`)
  // A server that cannot answer would be asked for minutes.
  if (word === "promote" || word === "delay") {
    if (node.isPaused) throw new Error(`${name} is paused and answers nothing. First: resume ${name}`)
    if (!node.isRunning) throw new Error(`${name} is dead. First: rejoin ${name}`)
  }
  await act(node, set, value)
}

async function describe(set: ReplicaSet, members: Members, balancer: Balancer): Promise<void> {
  const ready = balancer.ready()
  const servers = set.nodes.map((node) => {
    const role = node === set.primary ? "primary" : "standby"
    const state = node.isPaused ? "paused" : node.isRunning ? "running" : "dead"
    return `  ${node.name}  port ${node.port}  ${role}, ${state}`
  })
  const processes = members.backends.map(
    (backend) =>
      `  process at port ${backend.port}  ${ready.some(({ port }) => port === backend.port) ? "ready" : "not ready"}`,
  )
  say([...servers, ...processes].join("\n"))
}

function say(text: string): void {
  process.stdout.write(`${text}\n`)
}
