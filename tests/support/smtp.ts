import { once } from "node:events"
import { SMTPServer, type SMTPServerOptions } from "smtp-server"
import { findFreePort } from "./ports.ts"

export interface ReceivedMail {
  envelope: { from: string; to: string[] }
  /** As received over the wire. */
  source: string
}

export interface SmtpReceiver {
  url: string
  /** Every message that it accepted, in order. */
  received: ReceivedMail[]
  /** Refuses connections until `start`. Both are idempotent. */
  stop(): Promise<void>
  start(): Promise<void>
}

/** A real SMTP server that stores what it receives. It keeps its port while it is stopped. */
export async function openSmtpReceiver(options: SMTPServerOptions = {}): Promise<SmtpReceiver> {
  const received: ReceivedMail[] = []
  const port = await findFreePort()
  let server: SMTPServer | null = null

  async function start() {
    if (server) return
    server = new SMTPServer({
      authOptional: true,
      disabledCommands: ["STARTTLS", "AUTH"],
      closeTimeout: 100,
      async onData(stream, { envelope: { mailFrom, rcptTo } }, answer) {
        try {
          const source = Buffer.concat(await stream.toArray()).toString("utf8")
          const from = mailFrom ? mailFrom.address : ""
          received.push({ envelope: { from, to: rcptTo.map(({ address }) => address) }, source })
          answer()
        } catch (error) {
          // The sender died in the middle of it.
          answer(error instanceof Error ? error : new Error(String(error)))
        }
      },
      ...options,
    })
    server.on("error", () => {})
    server.listen(port, "127.0.0.1")
    await once(server.server, "listening")
  }

  async function stop() {
    const stopping = server
    server = null
    if (stopping) await new Promise<void>((resolve) => stopping.close(resolve))
  }

  await start()
  return { url: `smtp://127.0.0.1:${port}`, received, start, stop }
}

/** The names of a message's header fields, in lower case and in order. */
export function headerNames(source: string): string[] {
  const [head = ""] = source.split("\r\n\r\n", 1)
  return head
    .replaceAll(/\r\n[ \t]+/g, " ")
    .split("\r\n")
    .map((line) => line.slice(0, line.indexOf(":")).toLowerCase())
}
