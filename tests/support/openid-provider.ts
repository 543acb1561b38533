import { spawn } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { findFreePort } from "./ports.ts"

export interface OpenIdProvider {
  issuer: string
  /** The settings of a server that uses it for sign-in. */
  env: Record<string, string>
  /** The errors that it reported. */
  log: string[]
  stop(): Promise<void>
}

/** `oidc-provider` in its own process, for the application at `origin`. */
export async function startOpenIdProvider(origin: string): Promise<OpenIdProvider> {
  const port = await findFreePort()
  const file = join(import.meta.dirname, "openid-provider-process.ts")
  const child = spawn(process.execPath, [file, String(port), origin, "harbour"], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { PATH: process.env["PATH"] ?? "" },
  })
  const log: string[] = []
  child.stderr.on("data", (chunk) => log.push(String(chunk)))
  const exited = once(child, "exit")
  await Promise.race([
    once(child.stdout, "data"),
    exited.then(() => Promise.reject(new Error(`The provider has ended:\n${log.join("")}`))),
  ])
  const issuer = `http://127.0.0.1:${port}`
  return {
    issuer,
    env: {
      OIDC_HARBOUR_ISSUER: issuer,
      OIDC_HARBOUR_CLIENT_ID: "tideline",
      OIDC_HARBOUR_CLIENT_SECRET: "a secret of the client",
      OIDC_HARBOUR_LABEL: "Harbour Office",
    },
    log,
    async stop() {
      child.kill()
      await exited
    },
  }
}
