import { isIP } from "node:net"
import { connect } from "node:tls"
import type { Config } from "#server/config.ts"
import { createFailureLog, type Log } from "#server/log.ts"
import { startRecurring } from "#server/recurring.ts"

/** The certificate that browsers receive at the public URL. */
export interface Certificate {
  host: string
  /** When it expires, in milliseconds since the epoch. */
  expiresAt: number
  /** Why browsers would refuse it, such as `CERT_HAS_EXPIRED`; null if they accept it. */
  refusal: string | null
}

export interface WatchedCertificate {
  /** Null without HTTPS, and while it could not be read. */
  current(): Certificate | null
  stop(): Promise<void>
}

declare module "#server/scope.ts" {
  interface Services {
    /** What browsers receive at the public URL. */
    certificate: Pick<WatchedCertificate, "current">
  }
}

/** Milliseconds. */
const INTERVAL = 60 * 60 * 1000
const TIMEOUT = 10_000

/** Reads the certificate of `origin` now and every hour, whichever proxy presents it. */
export function watchCertificate({
  config,
  log,
}: {
  config: Pick<Config, "origin">
  log: Log
}): WatchedCertificate {
  const url = new URL(config.origin)
  if (url.protocol !== "https:") return { current: () => null, stop: () => Promise.resolve() }
  const failures = createFailureLog(log, "the certificate can be read again")
  let current: Certificate | null = null
  const recurring = startRecurring(async (stopping) => {
    try {
      current = await readCertificate(url, stopping)
      failures.succeeded()
    } catch (error) {
      if (stopping.aborted) return
      current = null
      failures.failed("warn", error, "could not read the certificate of APP_URL", { host: url.host })
    }
  }, INTERVAL)
  return { current: () => current, stop: recurring.stop }
}

/** Throws if the server does not respond within 10 s, or not with TLS. */
export function readCertificate(url: URL, stopping?: AbortSignal): Promise<Certificate> {
  // The brackets of an IPv6 address.
  const host = url.hostname.replaceAll(/[[\]]/g, "")
  return new Promise((resolve, reject) => {
    const socket = connect({
      host,
      port: Number(url.port || 443),
      ...(isIP(host) === 0 && { servername: host }),
      // Nothing is sent. One that browsers refuse is to be reported, with its expiry.
      rejectUnauthorized: false,
      timeout: TIMEOUT,
    })
    socket.once("secureConnect", () => {
      const { valid_to: until } = socket.getPeerCertificate()
      const refusal: unknown = socket.authorizationError
      resolve({ host: url.host, expiresAt: Date.parse(until), refusal: refusal ? codeOf(refusal) : null })
      socket.destroy()
    })
    socket.once("timeout", () => socket.destroy(new Error(`${url.host} did not respond within 10 s.`)))
    socket.once("error", reject)
    const giveUp = () => socket.destroy(new Error("The process is stopping."))
    stopping?.addEventListener("abort", giveUp, { once: true })
    socket.once("close", () => stopping?.removeEventListener("abort", giveUp))
  })
}

/** Node's types say an Error; it is the code, as a text. */
function codeOf(refusal: unknown): string {
  return refusal instanceof Error && "code" in refusal ? String(refusal.code) : String(refusal)
}
