import { ajv } from "./openapi.ts"

/** The part of `/api/realtime.json` that clients look names up in. */
export interface RealtimeDocument {
  asyncapi: string
  info: { externalDocs: { url: string } }
  servers: { tideline: { host: string; pathname: string } }
  components: {
    schemas: Record<string, object>
    messages: Record<string, { payload: object }>
  }
  "x-queries": {
    name: string
    description: string
    order: [string, string][]
    page: { argument: string; size: number } | null
    answer: "rows" | "row"
    refusals: Record<string, string>
  }[]
  "x-mutations": { name: string; description: string; refusals: Record<string, string> }[]
  "x-channels": { name: string; description: string; query: string; sentBy: "members" | "server" }[]
  "x-limits": { name: string; value: number }[]
}

export async function readRealtimeDocument(origin: string): Promise<RealtimeDocument> {
  const response = await fetch(`${origin}/api/realtime.json`)
  if (response.status !== 200) throw new Error(`GET /api/realtime.json returned ${response.status}`)
  return (await response.json()) as RealtimeDocument
}

/** Throws if the value does not match a schema of the document, such as `files.list.row`. */
export function mustMatchSchema(document: RealtimeDocument, name: string, value: unknown): void {
  mustMatch(document.components.schemas[name], value, name)
}

/** Throws if an event or an answer does not match its description. */
export function mustMatchMessage(document: RealtimeDocument, name: string, value: unknown): void {
  mustMatch(document.components.messages[name]?.payload, value, name)
}

function mustMatch(schema: object | undefined, value: unknown, name: string): void {
  if (!schema) throw new Error(`The document has no ${name}.`)
  if (ajv.validate(schema, value)) return
  throw new Error(`${name} is not as described: ${ajv.errorsText()}: ${JSON.stringify(value)}`)
}
