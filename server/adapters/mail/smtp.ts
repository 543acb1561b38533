import { createTransport } from "nodemailer"
import type { Mail, Message } from "#server/ports/mail.ts"

interface SmtpMailOptions {
  /**
   * smtp://user:password@host:port or smtps://...; nodemailer's options may follow as a query
   * string.
   */
  url: string
  /** `Name <address>` or an address. */
  from: string
}

export function openSmtpMail({ url, from }: SmtpMailOptions): Mail {
  const transport = openTransport(url)
  return {
    async send(message) {
      refuseStrangeHeaders(message)
      const { to, subject, text, html, messageId } = message
      try {
        const sent = await transport.sendMail({
          from,
          to: { name: "", address: to },
          subject,
          text,
          html,
          ...(messageId && { messageId }),
          headers: { "Auto-Submitted": "auto-generated" },
        })
        return { id: sent.messageId }
      } catch (error) {
        throw Object.assign(new Error(describeFailure(error), { cause: error }), {
          isPermanent: isRefusedForGood(error),
        })
      }
    },
    close: () => transport.close(),
  }
}

/**
 * Signs in to the mail server without sending anything. Throws an error whose message says what is
 * wrong.
 */
export async function checkSmtp(url: string): Promise<void> {
  const transport = openTransport(url)
  try {
    await transport.verify()
  } catch (error) {
    throw new Error(describeFailure(error), { cause: error })
  } finally {
    transport.close()
  }
}

function openTransport(url: string) {
  return createTransport({
    url,
    requireTLS: sendsPasswordAbroad(new URL(url)),
    connectionTimeout: 10_000,
    greetingTimeout: 10_000,
    socketTimeout: 30_000,
    dnsTimeout: 10_000,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
}

/** One plain address: no list, name or route, and nothing that could start another line. */
const ADDRESS = /^[^\s\p{C}<>()[\]\\,;:"@]{1,64}@[^\s\p{C}<>()[\]\\,;:"'@=?%!]{1,255}$/u

const MESSAGE_ID = /^<[\w.+-]+@[\w.:[\]-]+>$/

/**
 * The last check before sending. The values in headers have been checked before, and are checked
 * here again.
 */
function refuseStrangeHeaders({ to, subject, messageId }: Message) {
  const problem = !ADDRESS.test(to)
    ? "The address is not one that an email can be sent to."
    : /\p{Cc}|[\u2028\u2029]/u.test(subject) || (messageId !== undefined && !MESSAGE_ID.test(messageId))
      ? "The email's head holds what no head may hold."
      : null
  if (problem) throw Object.assign(new Error(problem), { isPermanent: true })
}

/**
 * The server refused the recipient or the message, as opposed to the sender, its credentials or the
 * moment.
 */
function isRefusedForGood(error: unknown): boolean {
  const command = textAt(error, "command")
  const answer = textAt(error, "response") ?? ""
  return (command === "RCPT TO" || command === "DATA") && /^5(?!30)\d\d/.test(answer)
}

/** A password is sent over an unencrypted connection to this machine only. */
function sendsPasswordAbroad({ username, hostname }: URL): boolean {
  return username !== "" && !["localhost", "127.0.0.1", "[::1]"].includes(hostname)
}

/**
 * The server's own message if it responded; otherwise the kind of failure, without addresses or
 * settings.
 */
function describeFailure(error: unknown): string {
  const code = textAt(error, "code")
  const answer = textAt(error, "response")
  if (answer && code !== "ETLS")
    return `The mail server answered: ${answer.replaceAll(/\s+/g, " ").slice(0, 300)}`
  return `The mail server did not accept the message: ${describeConnection(error, code)}`
}

/** nodemailer gives most failures of a socket one code, and keeps Node's own. */
function describeConnection(error: unknown, code: string | null): string {
  const message = error instanceof Error ? error.message : ""
  const own = textAt(error, "originalCode") ?? code
  if (message.includes("Greeting never received"))
    return "it took the connection and said nothing. If it begins with TLS, as on port 465, SMTP_URL begins with smtps://"
  if (own !== null && IS_NO_TLS.test(own))
    return `it does not begin with TLS there (${own}). With STARTTLS, as on port 587, SMTP_URL begins with smtp://`
  // Codes of refused certificates are OpenSSL's, and their number is large.
  if (/certificate/i.test(message))
    return `its certificate was refused (${own === "ESOCKET" || own === "ETLS" ? message : own}). Use the name that is in it, or name the file of its authority in NODE_EXTRA_CA_CERTS`
  return own ? (REASONS[own] ?? (code ? REASONS[code] : undefined) ?? own) : "unknown reason"
}

const IS_NO_TLS = /^(?:ERR_SSL_(?:WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST)|EPROTO)$/

function textAt(error: unknown, key: "response" | "code" | "originalCode" | "command"): string | null {
  const value =
    error instanceof Error && key in error ? Object.getOwnPropertyDescriptor(error, key)?.value : null
  return typeof value === "string" ? value : null
}

const REASONS: Record<string, string> = {
  ECONNECTION: "it cannot be reached",
  ECONNREFUSED: "it refused the connection: nothing listens at that port",
  ESOCKET: "it cannot be reached",
  EDNS: "its name is not known",
  EHOSTUNREACH: "no network leads to it",
  ECONNRESET: "it closed the connection",
  ETIMEDOUT: "it did not answer in time",
  ETLS: "no encrypted connection could be made",
  EAUTH: "it did not accept the credentials",
  EENVELOPE: "it did not accept the address",
}
