import { create as contentDisposition } from "content-disposition"
import { cleanFileName } from "#server/files/names.ts"
import { writeJsonObject } from "#server/json-texts.ts"
import { readList } from "#server/operations/list.ts"
import type { Scope, Viewer } from "#server/scope.ts"
import { placeOf } from "#server/spaces/live-access.ts"
import { liveMembers } from "#server/spaces/live.ts"
import { streamTexts } from "#server/transport/text-stream.ts"
import {
  shortfallOf,
  type Attachment,
  type ExportQuery,
  type Shortfall,
  type ThreadSummary,
} from "./contract.ts"
import type { Entry, ReplacedEntry } from "./read-operations.ts"
import { closeBlocks } from "./close-blocks.ts"
import { liveThreads } from "./live.ts"
import { eachMessage } from "./messages.ts"
import { eachReplaced } from "./replaced.ts"
import { createFootnoteSeparator } from "./separate-footnotes.ts"
import { findThread } from "./threads.ts"

/** The whole conversation as a download, named after its title. Throws NotFound. */
export async function exportThread(
  scope: Scope<"db" | "viewer">,
  threadId: string,
  { format }: ExportQuery,
): Promise<Response> {
  const thread = await findThread(scope, threadId)
  const text = FORMATS[format].write(scope, thread, await findAuthors(scope, thread))
  return new Response(streamTexts(text), {
    headers: {
      "Cache-Control": "private, no-store",
      "Content-Disposition": contentDisposition(nameOf(thread, format), { type: "attachment" }),
      "Content-Type": `${FORMATS[format].type}; charset=utf-8`,
    },
  })
}

/** The viewer's own conversations, or those in their trash, the most recently used first. */
export async function* eachThread(
  scope: Scope<"db" | "viewer">,
  { trashed }: { trashed: boolean },
): AsyncGenerator<ThreadSummary> {
  const range = (_args: unknown, viewer: Viewer) => ({ eq: { ...placeOf(viewer, undefined), trashed } })
  let cursor: string | undefined
  do {
    const page = { cursor, limit: 50, missing: "conversation" } as const
    const { rows, end } = await readList(scope, { ...liveThreads, range }, {}, page)
    yield* rows
    cursor = end ?? undefined
  } while (cursor !== undefined)
}

/** A conversation as files, one of each format. It may be in the trash. */
export async function writeThreadFiles(
  scope: Scope<"db" | "viewer">,
  thread: ThreadSummary,
): Promise<{ name: string; text: AsyncIterable<string> }[]> {
  const authorOf = await findAuthors(scope, thread)
  return (["markdown", "json"] as const).map((format) => ({
    name: nameOf(thread, format),
    text: FORMATS[format].write(scope, thread, authorOf),
  }))
}

/** The name of a message's author, as the viewer sees it. */
type AuthorOf = (userId: string) => string

const FORMATS = {
  markdown: { ending: ".md", type: "text/markdown", write: writeMarkdown },
  json: { ending: ".json", type: "application/json", write: writeJson },
}

/** What is personal has one author. */
async function findAuthors(scope: Scope<"db" | "viewer">, { spaceId }: ThreadSummary): Promise<AuthorOf> {
  if (spaceId === null) return () => "You"
  const { rows: members } = await readList(scope, liveMembers, { spaceId }, { missing: "space" })
  const names = new Map(
    members.map(({ userId, memberName, memberEmail }) => [userId, memberName ?? memberEmail]),
  )
  const ownId = scope.viewer.user._id
  return (userId) => (userId === ownId ? "You" : escape(names.get(userId) ?? "Former member"))
}

/** Without characters that end a folder's name, are refused, or hide the file in a file system. */
function nameOf({ title }: ThreadSummary, format: ExportQuery["format"]): string {
  const name = title.replace(/[/\\:*?"<>|]/g, "-").replace(/^[.\s]+|[.\s]+$/g, "")
  return cleanFileName((name || "conversation") + FORMATS[format].ending)
}

function writeJson(scope: Scope<"db" | "viewer">, thread: ThreadSummary): AsyncIterable<string> {
  return writeJsonObject({
    thread,
    messages: eachMessage(scope, thread._id),
    replaced: eachReplaced(scope, thread._id),
  })
}

async function* writeMarkdown(
  scope: Scope<"db" | "viewer">,
  thread: ThreadSummary,
  authorOf: AuthorOf,
): AsyncGenerator<string> {
  const separateFootnotes = createFootnoteSeparator()
  const write = (entry: Written) => `\n\n${writeEntry(entry, { authorOf, separateFootnotes }).join("\n\n")}`
  yield `# ${escape(thread.title)}`
  for await (const message of eachMessage(scope, thread._id)) yield write(message)
  let edit: number | undefined
  for await (const entry of eachReplaced(scope, thread._id)) {
    // What an edit removed begins with the message that was edited.
    const what = entry.role === "user" ? "edit" : "new answer"
    if (entry.replacedAt !== edit) yield `\n\n# Before the ${what} of ${writeTime(entry.replacedAt)}`
    edit = entry.replacedAt
    yield write(entry)
  }
  yield "\n"
}

type Written = Omit<Entry, "requestId" | "edited" | "mentions" | "turn"> & Pick<ReplacedEntry, "turn">

function writeEntry(
  { role, userId, turn, content, attachments, _creationTime }: Written,
  { authorOf, separateFootnotes }: { authorOf: AuthorOf; separateFootnotes: (markdown: string) => string },
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

function writeEnd(turn: NonNullable<Written["turn"]>, hasText: boolean): string[] {
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
