import { randomUUID } from "node:crypto"
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import PostalMime, { type Address, type Email } from "postal-mime"

export interface MessageSummary {
  id: string
  /** ISO 8601. */
  receivedAt: string
  from: string
  to: string
  subject: string
}

export interface InboxMessage extends MessageSummary {
  text: string | null
  html: string | null
  headers: { name: string; value: string }[]
  /** The raw message. */
  source: string
}

export type InboxStore = Awaited<ReturnType<typeof openInboxStore>>

/** Stores the last `capacity` messages, one file each, so that they survive a restart. */
export async function openInboxStore(directory: string, capacity = 200) {
  await mkdir(directory, { recursive: true, mode: 0o700 })
  const names = (await readdir(directory)).filter((name) => FILE_NAME.test(name)).toSorted()
  const summaries: MessageSummary[] = []
  for (const name of names) {
    const id = name.slice(0, -".eml".length)
    summaries.push(summarise(id, await PostalMime.parse(await readFile(join(directory, name)))))
  }
  await forgetOldest()

  return {
    /** Newest first. */
    list: () => summaries.toReversed(),
    async keep(source: Buffer): Promise<string> {
      const message = await PostalMime.parse(source)
      const id = `${new Date().toISOString().replaceAll(/[:.]/g, "-")}_${randomUUID()}`
      const file = join(directory, `${id}.eml`)
      await writeFile(`${file}.part`, source, { mode: 0o600 })
      await rename(`${file}.part`, file)
      summaries.push(summarise(id, message))
      await forgetOldest()
      return id
    },
    async read(id: string): Promise<InboxMessage | null> {
      const summary = summaries.find((known) => known.id === id)
      if (!summary) return null
      const source = await readFile(join(directory, `${id}.eml`))
      const { text, html, headers } = await PostalMime.parse(source)
      return {
        ...summary,
        text: text ?? null,
        html: html ?? null,
        headers: headers.map(({ originalKey, value }) => ({ name: originalKey, value })),
        source: source.toString("utf8"),
      }
    },
  }

  async function forgetOldest() {
    for (const { id } of summaries.splice(0, Math.max(0, summaries.length - capacity))) {
      await rm(join(directory, `${id}.eml`), { force: true })
    }
  }
}

/** The time of arrival, so that names sort by it, and a random part. */
const FILE_NAME = /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z_[0-9a-f-]{36}\.eml$/

function summarise(id: string, { from, to, subject }: Email): MessageSummary {
  const [date = "", time = ""] = id.slice(0, id.indexOf("Z_")).split("T")
  const [hours, minutes, seconds, milliseconds] = time.split("-")
  return {
    id,
    receivedAt: `${date}T${hours}:${minutes}:${seconds}.${milliseconds}Z`,
    from: from ? describeAddress(from) : "",
    to: (to ?? []).map((address) => describeAddress(address)).join(", "),
    subject: subject ?? "",
  }
}

function describeAddress({ name, address }: Address): string {
  return name ? `${name} <${address}>` : (address ?? "")
}
