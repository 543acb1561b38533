import { readdirSync, readFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { describe, expect, it } from "vitest"
import { describeApi } from "#server/http/openapi/document.ts"
import { liveChannels, liveMutations, liveQueries } from "#server/live-functions.ts"
import * as messages from "../../live/server/messages.ts"
import { readConfig } from "#server/config.ts"

const root = resolve(import.meta.dirname, "../..")

/** The contract of these names what they refuse, and clients of libraries send more than that. */
const OPEN_BODIES = ["POST /api/email", "POST /api/chat"]
/** They have no response that could name an unknown field. */
const UNANSWERED = new Set(["UnsubscribeMessage", "LeaveMessage", "AcknowledgeMessage"])

describe("what the server takes from a client is strict", () => {
  it.each([...liveQueries, ...liveMutations, ...liveChannels].map(({ name, schema }) => ({ name, schema })))(
    "in the arguments of $name",
    ({ schema }) => {
      const parts = "options" in schema ? (schema.options as { type: string }[]) : [schema]
      for (const { type } of parts) expect(type).toBe("strict_object")
    },
  )

  it.each(Object.entries(messages).filter(([name]) => !UNANSWERED.has(name)))(
    "in the message %s of the socket",
    (_name, schema) => {
      expect(schema.type).toBe("strict_object")
    },
  )

  it("in the JSON body of every operation, wherever an object is in it", () => {
    const bodies = Object.entries(
      describeApi(readConfig({ AUTH_SECRET: "a secret for tests, and for nothing else" })).paths,
    ).flatMap(([path, item]) =>
      Object.entries(item).map(([method, { requestBody }]) => ({
        name: `${method.toUpperCase()} ${path}`,
        schema: (requestBody as Body | undefined)?.content["application/json"]?.schema,
      })),
    )
    const open = bodies.filter(({ schema }) => schema && isOpen(schema)).map(({ name }) => name)
    expect(open).toEqual(OPEN_BODIES)
    expect(bodies.filter(({ schema }) => schema).length).toBeGreaterThan(15)
  })

  it("in the query of every route of the API, which says what it takes beside its methods", () => {
    const folder = join(root, "app/routes/api")
    const without = readdirSync(folder).filter(
      (file) => !readFileSync(join(folder, file), "utf8").includes("allowMethods("),
    )
    // The identity provider's, and what is unknown.
    expect(without).toEqual(["auth.ts", "unknown.ts"])
  })
})

interface Body {
  content: Record<string, { schema: object }>
}

function isOpen(schema: unknown): boolean {
  if (typeof schema !== "object" || schema === null) return false
  const isObject = "properties" in schema
  if (isObject && !("additionalProperties" in schema && schema.additionalProperties === false)) return true
  return Object.values(schema).some(isOpen)
}
