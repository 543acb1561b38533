import { toJsonSchema } from "@valibot/to-json-schema"
import { jsonSchema, tool, type Schema, type ToolSet } from "ai"
import * as v from "valibot"
import { isRefusal } from "#server/errors.ts"
import { readFileText } from "#server/files/files.ts"
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
 * The model's tools. They only read, and only the viewer's own data. Their output is data, and
 * limited in size. Everybody in a space reads the replies there, so nothing that is the viewer's own
 * is offered in one.
 */
export function chatTools(scope: Scope<"db" | "blobs" | "viewer">, spaceId: string | null): ToolSet {
  return spaceId === null ? { ...publicTools, ...ownTools(scope) } : publicTools
}

const publicTools = {
  currentTime: tool({
    description: "The current date and time.",
    inputSchema: CurrentTime,
    execute: ({ timeZone }) => tellTime(timeZone),
  }),
}

function ownTools(scope: Scope<"db" | "blobs" | "viewer">) {
  return {
    searchFiles: tool({
      description:
        "Finds the user's own files by name, the newest first. Without a name it lists the newest files.",
      inputSchema: SearchFiles,
      execute: ({ name }) => searchFiles(scope, name),
    }),
    readFile: tool({
      description: "Reads the beginning of one of the user's own text files, found with searchFiles.",
      inputSchema: ReadFile,
      execute: ({ fileId }) => readFile(scope, fileId),
    }),
    searchThreads: tool({
      description:
        "Finds the user's own earlier conversations by the words in their titles and messages, the last used first.",
      inputSchema: SearchThreads,
      execute: ({ query }) => findThreads(scope, query),
    }),
  }
}

export const TOOL_NAMES = ["currentTime", "searchFiles", "readFile", "searchThreads"] satisfies (
  | keyof typeof publicTools
  | keyof ReturnType<typeof ownTools>
)[]

const FILES_SHOWN = 20

async function searchFiles(scope: Scope<"db" | "viewer">, name = "") {
  const { files, nextCursor } = await listFiles(scope, {
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

async function readFile(scope: Scope<"db" | "blobs" | "viewer">, fileId: string) {
  try {
    const { fileName, text, truncated } = await readFileText(scope, fileId, BYTES_READ)
    return { name: fileName, text, truncated }
  } catch (error) {
    if (isRefusal(error)) return { problem: error.message }
    throw error
  }
}

const CONVERSATIONS_SHOWN = 10

async function findThreads(scope: Scope<"db" | "viewer">, query: string) {
  const { results } = await searchThreads(scope, { q: query })
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
