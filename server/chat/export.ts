import { create as contentDisposition } from "content-disposition"
import { cleanFileName } from "#server/files/names.ts"
import type { Scope } from "#server/scope.ts"
import { listMembers } from "#server/spaces/members.ts"
import {
  shortfallOf,
  type Attachment,
  type Entry,
  type ExportQuery,
  type PageQuery,
  type ReplacedEntry,
  type Shortfall,
  type ThreadSummary,
} from "./contract.ts"
import { closeBlocks } from "./close-blocks.ts"
import { readMessages } from "./messages.ts"
import { readReplaced } from "./replaced.ts"
import { createFootnoteSeparator } from "./separate-footnotes.ts"
import { findThread } from "./threads.ts"

/** The whole conversation as a download, named after its title. Throws NotFound. */
export async function exportThread(
  scope: Scope<"db" | "viewer">,
  threadId: string,
  { format }: ExportQuery,
): Promise<Response> {
  const thread = await findThread(scope, threadId)
  const { name, text } = writeThread(thread, await readContents(scope, thread), format)
  return new Response(text, {
    headers: {
      "Cache-Control": "private, no-store",
      "Content-Disposition": contentDisposition(name, { type: "attachment" }),
      "Content-Type": `${FORMATS[format].type}; charset=utf-8`,
    },
  })
}

/** A conversation as files, one of each format, all from one read. It may be in the trash. */
export async function writeThreadFiles(
  scope: Scope<"db" | "viewer">,
  thread: ThreadSummary,
): Promise<{ name: string; text: string }[]> {
  const contents = await readContents(scope, thread)
  return (["markdown", "json"] as const).map((format) => writeThread(thread, contents, format))
}

interface Contents {
  messages: Entry[]
  /** Messages that edits replaced, and replies that are kept for links. */
  replaced: ReplacedEntry[]
  /** As the viewer sees it. */
  authorOf: (userId: string) => string
}

function writeThread(thread: ThreadSummary, contents: Contents, format: ExportQuery["format"]) {
  const { ending, write } = FORMATS[format]
  return { name: nameOf(thread, ending), text: write(thread, contents) }
}

const FORMATS = {
  markdown: { ending: ".md", type: "text/markdown", write: writeMarkdown },
  json: { ending: ".json", type: "application/json", write: writeJson },
}

async function readContents(scope: Scope<"db" | "viewer">, thread: ThreadSummary): Promise<Contents> {
  return {
    messages: await readAll((page) => readMessages(scope, thread._id, page)),
    replaced: await readAll((page) => readReplaced(scope, thread._id, page)),
    authorOf: await findAuthors(scope, thread),
  }
}

/** What is personal has one author. */
async function findAuthors(
  scope: Scope<"db" | "viewer">,
  { spaceId }: ThreadSummary,
): Promise<Contents["authorOf"]> {
  if (spaceId === null) return () => "You"
  const members = await listMembers(scope, spaceId)
  const names = new Map(
    members.map(({ userId, memberName, memberEmail }) => [userId, memberName ?? memberEmail]),
  )
  const ownId = scope.viewer.user._id
  return (userId) => (userId === ownId ? "You" : escape(names.get(userId) ?? "Former member"))
}

/** Oldest first. */
async function readAll<Row>(
  read: (page: PageQuery) => Promise<{ entries: Row[]; earlierCursor: string | null }>,
): Promise<Row[]> {
  const pages: Row[][] = []
  let cursor: string | undefined
  do {
    const page = await read({ cursor, limit: 100 })
    pages.push(page.entries)
    cursor = page.earlierCursor ?? undefined
  } while (cursor !== undefined)
  return pages.toReversed().flat()
}

/** Without characters that end a folder's name, are refused, or hide the file in a file system. */
function nameOf({ title }: ThreadSummary, ending: string): string {
  const name = title.replace(/[/\\:*?"<>|]/g, "-").replace(/^[.\s]+|[.\s]+$/g, "")
  return cleanFileName((name || "conversation") + ending)
}

function writeJson(thread: ThreadSummary, { messages, replaced }: Contents): string {
  return `${JSON.stringify({ thread, messages, replaced }, null, 2)}\n`
}

function writeMarkdown(thread: ThreadSummary, { messages, replaced, authorOf }: Contents): string {
  const separateFootnotes = createFootnoteSeparator()
  const write = (entry: Written) => writeEntry(entry, { authorOf, separateFootnotes })
  const edits = [...Map.groupBy(replaced, ({ replacedAt }) => replacedAt)].toSorted(
    ([one], [other]) => one - other,
  )
  const versions = edits.flatMap(([replacedAt, entries]) => {
    // What an edit removed begins with the message that was edited.
    const what = entries[0]?.role === "user" ? "edit" : "new answer"
    return [`# Before the ${what} of ${writeTime(replacedAt)}`].concat(entries.flatMap(write))
  })
  return `${[`# ${escape(thread.title)}`, ...messages.flatMap(write), ...versions].join("\n\n")}\n`
}

type Written = Omit<Entry, "requestId" | "edited" | "mentions">

function writeEntry(
  { role, userId, turn, content, attachments, _creationTime }: Written,
  {
    authorOf,
    separateFootnotes,
  }: Pick<Contents, "authorOf"> & { separateFootnotes: (markdown: string) => string },
): string[] {
  const who = role === "user" ? authorOf(userId) : turn ? `Answer of ${escape(turn.model)}` : "Answer"
  const tools = (turn?.parts ?? []).flatMap((part) => (part.type === "tool" ? [escape(part.name)] : []))
  return [
    `## ${who}, ${writeTime(_creationTime)}`,
    ...(tools.length > 0 ? [`*Used ${tools.join(", ")}.*`] : []),
    ...(content.trim() === "" ? [] : [separateFootnotes(closeBlocks(content.trimEnd()))]),
    ...(attachments ? [attachments.map(writeAttachment).join("\n")] : []),
    ...(turn ? writeEnd(turn, content.trim() !== "") : []),
  ]
}

function writeTime(moment: number) {
  return `${new Date(moment).toISOString().slice(0, 16).replace("T", " ")} UTC`
}

function writeAttachment({ fileName, mimeType, size }: Attachment): string {
  return `- Attached: ${escape(fileName)} (${escape(mimeType)}, ${size} bytes)`
}

const SHORTFALLS: Record<Shortfall, string> = {
  empty: "The model returned an empty reply.",
  withheld: "Withheld by the model or a content filter.",
  filtered: "Ended here by the model or a content filter.",
  "used-up": "The length limit was reached before an answer.",
  length: "Cut off here: the length limit was reached.",
  steps: "Ended here: the limit of tool calls was reached.",
}

function writeEnd(turn: NonNullable<Entry["turn"]>, hasText: boolean): string[] {
  const { status, failure } = turn
  const shortfall = shortfallOf(turn, hasText)
  if (shortfall) return [`*${SHORTFALLS[shortfall]}*`]
  switch (status) {
    case "completed":
      return []
    case "running":
      return ["*This answer was still being given.*"]
    case "stopped":
      return ["*Stopped here.*"]
    case "timeout":
      return ["*Cut off here: the time was over.*"]
    case "interrupted":
      return ["*Interrupted here.*"]
    case "failed":
      return [`*${escape(failure ?? "The answer failed.")}*`]
  }
}

/** Escaped, so that it is displayed literally and stays on its line. */
function escape(text: string): string {
  return text.replace(/\s+/g, " ").replace(/[\\`*_[\]<>#&|~]/g, "\\$&")
}
