import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { spawnTideline } from "./spawn-tideline.ts"
import { openBalancer, type Balancer } from "#server/commands/cluster/balancer.ts"
import { findFreePort } from "./ports.ts"

/** One of several processes. It keeps its ports and its folder when it is started again. */
export interface Member {
  port: number
  /** Its own URL, which bypasses the proxy. */
  origin: string
  /** The value of a metric without labels; NaN if it is missing. */
  metric(name: string): Promise<number>
  pid(): number
  /** Across all its restarts. */
  log: string[]
  isReady(): boolean
  /** Resolves with its exit code. */
  end(signal: NodeJS.Signals): Promise<number | null>
  /** `sources` are those of another version, already built; the default is the current one. */
  start(sources?: string): Promise<void>
}

export interface Fleet {
  /** The proxy's, which is the application's public URL. */
  origin: string
  members: Member[]
  balancer: Balancer
  /** The folder of the blobs, which they share. */
  dataDir: string
  /** Resolves when the proxy sends requests to all of them. */
  whenReady(): Promise<void>
  stop(): Promise<void>
}

/**
 * Several processes of the built application, from the current sources or from `sources`, with one
 * database, one folder of blobs and a proxy in front.
 */
export async function startFleet(
  databaseUrl: string,
  { size = 3, env = {}, sources }: { size?: number; env?: Record<string, string>; sources?: string } = {},
): Promise<Fleet> {
  const folder = mkdtempSync(join(tmpdir(), "tideline-fleet-"))
  const backends = await Promise.all(
    Array.from({ length: size }, async () => ({ port: await findFreePort(), ops: await findFreePort() })),
  )
  const balancer = await openBalancer(backends)
  const members = backends.map((backend, index) =>
    createMember(folder, backend.port, () => balancer.ready().includes(backend), {
      PORT: String(backend.port),
      OPS_PORT: String(backend.ops),
      APP_URL: balancer.origin,
      DATABASE_URL: databaseUrl,
      DATA_DIR: join(folder, String(index)),
      BLOBS_URL: `file://${folder}/blobs`,
      ...env,
    }),
  )
  const fleet: Fleet = {
    origin: balancer.origin,
    members,
    balancer,
    dataDir: folder,
    whenReady: () => balancer.whenReady(size),
    async stop() {
      await Promise.all(members.map((member) => member.end("SIGTERM")))
      await balancer.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
  try {
    await Promise.all(members.map((member) => member.start(sources)))
    await fleet.whenReady()
    return fleet
  } catch (error) {
    await fleet.stop()
    throw error
  }
}

function createMember(
  folder: string,
  port: number,
  isReady: () => boolean,
  env: Record<string, string>,
): Member {
  let server: ReturnType<typeof spawnTideline> | null = null
  const log: string[] = []
  return {
    port,
    origin: `http://127.0.0.1:${port}`,
    async metric(name) {
      const response = await fetch(`http://127.0.0.1:${env["OPS_PORT"]}/metrics`)
      return Number(new RegExp(`^${name} (\\S+)$`, "m").exec(await response.text())?.[1])
    },
    pid: () => server?.child.pid ?? 0,
    log,
    isReady,
    async end(signal) {
      const ending = server
      ending?.child.kill(signal)
      return (await ending?.exited) ?? null
    },
    async start(built) {
      server = spawnTideline(folder, env, built)
      server.child.stdout?.on("data", (chunk) => log.push(String(chunk)))
      await server.logged("Tideline is ready")
    },
  }
}
