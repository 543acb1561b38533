import { createTransport } from "nodemailer"
import type { Mail } from "#server/ports/mail.ts"

interface SmtpMailOptions {
  /** smtp://user:password@host:port, smtps://...; nodemailer's own options may follow as a query. */
  url: string
  /** `Name <address>` or an address. */
  from: string
}

export function openSmtpMail({ url, from }: SmtpMailOptions): Mail {
  const transport = createTransport({
    url,
    requireTLS: sendsPasswordAbroad(new URL(url)),
    connectionTimeout: 10_000,
    greetingTimeout: 10_000,
    socketTimeout: 30_000,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  return {
    async send({ to, subject, text, html }) {
      try {
        const sent = await transport.sendMail({
          from,
          to: { name: "", address: to },
          subject,
          text,
          html,
          headers: { "Auto-Submitted": "auto-generated" },
        })
        return { id: sent.messageId }
      } catch (error) {
        throw new Error(describeFailure(error), { cause: error })
      }
    },
    close: () => transport.close(),
  }
}

/** A password goes over an unencrypted connection to this machine only. */
function sendsPasswordAbroad({ username, hostname }: URL): boolean {
  return username !== "" && !["localhost", "127.0.0.1", "[::1]"].includes(hostname)
}

/** The provider's own words where it answered; otherwise what kind of failure it was, without addresses or settings. */
function describeFailure(error: unknown): string {
  const code = textAt(error, "code")
  const answer = textAt(error, "response")
  if (answer && code !== "ETLS")
    return `The mail server answered: ${answer.replaceAll(/\s+/g, " ").slice(0, 300)}`
  const reason = code ? (REASONS[code] ?? code) : "unknown reason"
  return `The mail server did not take the message: ${reason}`
}

function textAt(error: unknown, key: "response" | "code"): string | null {
  const value =
    error instanceof Error && key in error ? Object.getOwnPropertyDescriptor(error, key)?.value : null
  return typeof value === "string" ? value : null
}

const REASONS: Record<string, string> = {
  ECONNECTION: "it cannot be reached",
  ECONNREFUSED: "it refused the connection",
  ESOCKET: "it cannot be reached",
  EDNS: "its name is not known",
  ETIMEDOUT: "it did not answer in time",
  ETLS: "no encrypted connection could be made",
  EAUTH: "it did not accept the credentials",
  EENVELOPE: "it did not accept the address",
}
