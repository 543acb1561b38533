import { mkdirSync } from "node:fs"
import { join, resolve } from "node:path"
import { builtServer } from "#server/commands/bundle.ts"
import { signUp } from "../accounts.ts"
import { listening } from "../listening.ts"
import type { MeterCommands } from "../meter.ts"
import { startProgram, type Program } from "../program.ts"
import type { Server } from "./client.ts"

export type Candidate = "bare" | "tideline"

export const CANDIDATES: readonly Candidate[] = ["bare", "tideline"]

export interface Running {
  meter: Program<MeterCommands>
  server: Server
}

const PORTS = { bare: 3984, tideline: 3985 }
const METER = join(import.meta.dirname, "../meter.ts")

const root = resolve(import.meta.dirname, "../..")

/** Stores its files in `folder`. */
export async function startBare(folder: string): Promise<Running> {
  const kept = join(folder, "bare")
  mkdirSync(kept)
  const meter = startProgram<MeterCommands>(
    join(import.meta.dirname, "candidates/bare.ts"),
    [String(PORTS.bare), kept],
    { before: METER },
  )
  await listening(PORTS.bare)
  return { meter, server: { origin: `http://localhost:${PORTS.bare}`, headers: {} } }
}

/** The built server with its files in `folder`, used by a signed-in user. */
export async function startTideline(folder: string, databaseUrl: string): Promise<Running> {
  const origin = `http://localhost:${PORTS.tideline}`
  const meter = startProgram<MeterCommands>(builtServer(root), [], {
    before: METER,
    cwd: folder,
    env: {
      PATH: process.env["PATH"],
      NODE_ENV: "production",
      PORT: String(PORTS.tideline),
      HOST: "127.0.0.1",
      DATABASE_URL: databaseUrl,
      AUTH_SECRET: "a secret for measuring, and for nothing else",
      MAIL_INBOX_PORT: "0",
      FILES_MAX_SIZE: "10GB",
      FILES_QUOTA_FREE: "100GB",
    },
  })
  await listening(PORTS.tideline)
  const { cookie } = await signUp(origin, 0)
  return { meter, server: { origin, headers: { cookie, origin } } }
}
