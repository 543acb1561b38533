import { toJsonSchema } from "@valibot/to-json-schema"
import { jsonSchema, tool, type Schema } from "ai"
import * as v from "valibot"
import { listFiles } from "../files/list.ts"
import type { Scope } from "../scope.ts"

/** What the model may do: look, never touch, and only at what the viewer owns. Its output is data, and bounded. */
export function chatTools(scope: Scope<"db" | "viewer">) {
  return {
    currentTime: tool({
      description: "The current date and time.",
      inputSchema: inputOf(CurrentTime),
      execute: ({ timeZone }) => tellTime(timeZone),
    }),
    searchFiles: tool({
      description:
        "Finds the user's own files by name, the newest first. Without a name it lists the newest files.",
      inputSchema: inputOf(SearchFiles),
      execute: ({ name }) => searchFiles(scope, name),
    }),
  }
}

export const TOOL_NAMES = ["currentTime", "searchFiles"] satisfies (keyof ReturnType<typeof chatTools>)[]

const CurrentTime = v.object({
  timeZone: v.optional(
    v.pipe(
      v.string(),
      v.maxLength(60),
      v.description("An IANA time zone such as Europe/Lisbon. UTC if left out."),
    ),
  ),
})

const SearchFiles = v.object({
  name: v.optional(v.pipe(v.string(), v.maxLength(200), v.description("A part of the file's name."))),
})

/** Not as the standard schema that valibot also is: the SDK takes every answer of it that has a value for a good one. */
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
      name: file.fileName,
      type: file.mimeType,
      bytes: file.size,
      added: new Date(file._creationTime).toISOString(),
    })),
    more: nextCursor !== null,
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
    return { utc: now.toISOString(), problem: `${timeZone} is no time zone that is known here.` }
  }
}
