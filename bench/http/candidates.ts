import { join, resolve } from "node:path"
import { builtServer } from "#server/commands/bundle.ts"
import { nextCommand } from "./peers.ts"
import { startServer, type Served } from "./processes.ts"

export type Candidate = "bare" | "fastify" | "next" | "tideline"

/** The candidates run one after the other, so they share a port. */
export const PORT = 3975

export const root = resolve(import.meta.dirname, "../..")

export interface Setting {
  databaseUrl: string
  /** The application's working directory. */
  folder: string
  /** A file in the folder of the peers, from which they are resolved. */
  peers: string
  /** The folder of the built Next.js application. */
  next: string
  /** The recorded responses that the bare server sends, by path. */
  recorded: Record<string, { type: string; file: string }>
}

/** Starts a candidate and waits for its first 200 at `path`. */
export function startCandidate(
  candidate: Candidate,
  setting: Setting,
  path = "/api/health",
): Promise<Served> {
  const port = String(PORT)
  const small = (file: string, argument: string) =>
    startServer([join(import.meta.dirname, "candidates", file), port, argument], {
      port: PORT,
      path,
      cwd: setting.folder,
      env: {},
    })
  switch (candidate) {
    case "bare":
      return small("bare.ts", JSON.stringify(setting.recorded))
    case "fastify":
      return small("fastify.ts", setting.peers)
    case "next":
      return startServer([nextCommand(), "start", "-p", port, "-H", "127.0.0.1"], {
        port: PORT,
        path,
        cwd: setting.next,
        env: { DATABASE_URL: setting.databaseUrl, NEXT_TELEMETRY_DISABLED: "1" },
      })
    case "tideline":
      return startTideline(setting, path)
  }
}

export function startTideline(
  { databaseUrl, folder }: Pick<Setting, "databaseUrl" | "folder">,
  path: string,
) {
  return startServer([builtServer(root)], {
    port: PORT,
    path,
    cwd: folder,
    env: {
      PORT: String(PORT),
      HOST: "127.0.0.1",
      TRUSTED_PROXIES: "1",
      DATABASE_URL: databaseUrl,
      AUTH_SECRET: "a secret for measuring, and for nothing else",
      MAIL_INBOX_PORT: "0",
    },
  })
}
