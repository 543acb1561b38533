import { toJsonSchema } from "@valibot/to-json-schema"
import { jsonSchema, tool, type Schema, type ToolSet } from "ai"
import * as v from "valibot"
import { isRefusal, NotFound } from "#server/errors.ts"
import { findFile, readFileText } from "#server/files/files.ts"
import { listFiles } from "#server/files/list.ts"
import type { Scope } from "#server/scope.ts"
import { SEARCH_LIMIT } from "./contract.ts"
import { searchThreads } from "./search.ts"

/**
 * Not passed as the standard schema that valibot also is: the SDK would treat every result with a
 * value as valid.
 */
function inputOf<Input extends v.GenericSchema>(schema: Input): Schema<v.InferOutput<Input>> {
  return jsonSchema(toJsonSchema(schema), {
    validate(value) {
      const parsed = v.safeParse(schema, value)
      return parsed.success
        ? { success: true, value: parsed.output }
        : { success: false, error: new v.ValiError(parsed.issues) }
    },
  })
}

// Created once: creating them for each reply would take longer than reading its session.
const CurrentTime = inputOf(
  v.object({
    timeZone: v.optional(
      v.pipe(
        v.string(),
        v.maxLength(60),
        v.description("An IANA time zone such as Europe/Lisbon. UTC if left out."),
      ),
    ),
  }),
)

const SearchFiles = inputOf(
  v.object({
    name: v.optional(v.pipe(v.string(), v.maxLength(200), v.description("A part of the file's name."))),
  }),
)

const ReadFile = inputOf(
  v.object({
    fileId: v.pipe(v.string(), v.maxLength(100), v.description("The file's id, as searchFiles gives it.")),
  }),
)

const SearchThreads = inputOf(
  v.object({
    query: v.pipe(
      v.string(),
      v.maxLength(SEARCH_LIMIT),
      v.description("Words that must all be there. The last may be the beginning of one."),
    ),
  }),
)

/**
 * The model's tools. They only read, and only what the viewer may see. Everybody in a space reads
 * the replies there, so in one they find only what is in it. Their output is data, and limited in
 * size.
 */
export function chatTools(scope: ToolScope, spaceId: string | null): ToolSet {
  return { ...publicTools, ...readingTools(scope, spaceId) }
}

type ToolScope = Scope<"db" | "blobs" | "log" | "viewer">

/** Where a tool searches. */
type Where = { spaceId: string } | { everywhere: "true" }

const publicTools = {
  currentTime: tool({
    description: "The current date and time.",
    inputSchema: CurrentTime,
    execute: ({ timeZone }) => tellTime(timeZone),
  }),
}

/** Those that say the same to everybody. */
export const PUBLIC_TOOLS = Object.keys(publicTools)

function readingTools(scope: ToolScope, spaceId: string | null) {
  const where: Where = spaceId === null ? { everywhere: "true" } : { spaceId }
  const whose = spaceId === null ? "the user's own and their spaces'" : "this space's"
  return {
    searchFiles: tool({
      description: `Finds ${whose} files by name, the newest first. Without a name it lists the newest files.`,
      inputSchema: SearchFiles,
      execute: ({ name }) => answerRefusal(() => searchFiles(scope, where, name)),
    }),
    readFile: tool({
      description: `Reads the beginning of one of ${whose} text files, found with searchFiles.`,
      inputSchema: ReadFile,
      execute: ({ fileId }) => answerRefusal(() => readFile(scope, spaceId, fileId)),
    }),
    searchThreads: tool({
      description: `Finds ${whose} earlier conversations by the words in their titles and messages, the last used first.`,
      inputSchema: SearchThreads,
      execute: ({ query }) => answerRefusal(() => findThreads(scope, where, query)),
    }),
  }
}

/** A refusal is something that the model can tell. */
async function answerRefusal<Output>(find: () => Promise<Output>): Promise<Output | { problem: string }> {
  try {
    return await find()
  } catch (error) {
    if (isRefusal(error)) return { problem: error.message }
    throw error
  }
}

const FILES_SHOWN = 20

async function searchFiles(scope: Scope<"db" | "viewer">, where: Where, name = "") {
  const { files, nextCursor } = await listFiles(scope, {
    ...where,
    q: name.trim(),
    sort: "newest",
    cursor: undefined,
    limit: FILES_SHOWN,
  })
  return {
    files: files.map((file) => ({
      id: file._id,
      name: file.fileName,
      type: file.mimeType,
      bytes: file.size,
      added: new Date(file._creationTime).toISOString(),
    })),
    more: nextCursor !== null,
  }
}

/** Bytes of a file that the model can read in one call. */
const BYTES_READ = 24 * 1024

async function readFile(scope: ToolScope, spaceId: string | null, fileId: string) {
  if (spaceId !== null && (await findFile(scope, fileId)).spaceId !== spaceId) throw new NotFound("file")
  const { fileName, text, truncated } = await readFileText(scope, fileId, BYTES_READ)
  return { name: fileName, text, truncated }
}

const CONVERSATIONS_SHOWN = 10

async function findThreads(scope: Scope<"db" | "viewer">, where: Where, query: string) {
  const { results } = await searchThreads(scope, { ...where, q: query })
  return {
    conversations: results.slice(0, CONVERSATIONS_SHOWN).map(({ thread, snippet }) => ({
      title: thread.title,
      lastUsed: new Date(thread.lastMessageAt).toISOString(),
      found: snippet.text,
    })),
    more: results.length > CONVERSATIONS_SHOWN,
  }
}

function tellTime(timeZone = "UTC") {
  const now = new Date()
  try {
    const local = new Intl.DateTimeFormat("en-GB", { timeZone, dateStyle: "full", timeStyle: "long" }).format(
      now,
    )
    return { utc: now.toISOString(), local, timeZone }
  } catch {
    return { utc: now.toISOString(), problem: `${timeZone} is not a known time zone.` }
  }
}
