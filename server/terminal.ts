import { relative } from "node:path"
import { styleText } from "node:util"

/** Whether standard output is a terminal. Otherwise it receives JSON log lines only. */
export const isTerminal = process.stdout.isTTY

if (isTerminal) process.stdout.on("error", outliveTerminal)

/** Writing to a closed terminal fails. That is no reason to stop before running work is done. */
export function outliveTerminal(error: NodeJS.ErrnoException): void {
  if (error.code !== "EIO" && error.code !== "EPIPE") throw error
}

/** Prints a line if standard output is a terminal. */
export function tell(text: string) {
  if (isTerminal) process.stdout.write(`${text}\n`)
}

interface Start {
  config: { origin: string; dataDir: string; chat: { gateway: { kind: string } } }
  /** The URL of the local inbox; null if emails are really sent. */
  inbox: string | null
  /** Whether this start created the settings file. */
  isFirst: boolean
}

/**
 * What a person needs to know when the server listens: the URLs, and the first steps at the first
 * start.
 */
export function describeStart({ config, inbox, isFirst }: Start): string {
  const { origin, chat, dataDir } = config
  const facts = [`\n  Tideline is ready: ${styleText("bold", origin)}\n`]
  if (inbox) facts.push(`  Emails    ${inbox}  (none leaves this machine; SMTP_URL sends them)`)
  if (chat.gateway.kind === "embedded")
    facts.push(
      "  Chat      replies come from a development gateway; AI_GATEWAY_API_KEY connects a real model",
    )
  facts.push(`  Data      ${shorten(dataDir)}`)
  if (isFirst) {
    const account = `Create an account at ${origin}/sign-up.`
    const operator =
      "Add its email address to ADMIN_EMAILS in .env, and restart, to manage this server at /admin."
    const more = `Read ${origin}/docs/self-hosting before others use it: address, database, mail, model.`
    facts.push("", "  First steps", `  1. ${account}`, `  2. ${operator}`, `  3. ${more}`)
  }
  facts.push("", "  Stop with Ctrl+C.\n")
  return facts.join("\n")
}

const LABELS: Record<number, string> = {
  10: "trace",
  20: "debug",
  30: "info",
  40: styleText("yellow", "warning"),
  50: styleText("red", "error"),
  60: styleText("red", "fatal"),
}

interface Entry {
  level: number
  time: string
  msg?: string
  err?: { stack?: string; message?: string }
}

/** A log line for people. Nothing in it can control the terminal. */
export function describeEntry(line: string): string {
  const { level, time, msg, err, ...details } = JSON.parse(line) as Entry
  const moment = new Date(time).toLocaleTimeString("en-GB")
  const values = Object.entries(details).map(([name, value]) => `${name}=${JSON.stringify(value)}`)
  const said = [moment, LABELS[level] ?? level, withoutControls(msg ?? ""), ...values].join("  ")
  const stack = err?.stack ?? err?.message
  return stack === undefined ? `${said}\n` : `${said}\n${withoutControls(stack).replaceAll(/^/gm, "    ")}\n`
}

function withoutControls(text: string) {
  return text.replaceAll(/[\u0000-\u0009\u000B-\u001F\u007F-\u009F]/g, " ")
}

function shorten(path: string) {
  const short = relative(".", path)
  return short === "" || short.startsWith("..") ? path : short
}
