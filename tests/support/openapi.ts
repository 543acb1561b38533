import { Ajv2020 } from "ajv/dist/2020.js"

export type Fetch = (address: string, init?: RequestInit) => Promise<Response>

/**
 * `fetch` for URLs of the application at `origin`, which may be paths. Every response goes through
 * `checkAnswer`.
 */
export function checkedFetch(origin: string): Fetch {
  return async (address, init) => {
    const url = new URL(address, origin)
    const response = await fetch(url, init)
    await checkResponse(url, init?.method, response)
    return response
  }
}

/**
 * Throws when a response does not match the application's own OpenAPI document. What the document
 * does not cover passes: pages, and the identity provider's /api/auth.
 */
export async function checkResponse(url: URL, method = "GET", response: Response): Promise<void> {
  const document = await readDocument(url.origin)
  const problem = await findProblem(document, method, url.pathname, response)
  if (problem) throw new Error(`${method} ${url.pathname} answered ${response.status}: ${problem}`)
}

/**
 * Whether processes of an earlier version are part of the test, as in `npm run test:upgrades`. The
 * document may then be that version's, and later ones add properties, which clients have to ignore.
 */
const isOlder = process.env["OLDER_SOURCES"] !== undefined

function withoutLimits(key: string, value: unknown): unknown {
  return key === "additionalProperties" && value === false ? undefined : value
}

const documents = new Map<string, Promise<Document>>()

function readDocument(origin: string): Promise<Document> {
  const known = documents.get(origin)
  if (known) return known
  const asked = fetch(`${origin}/api/openapi.json`).then(async (answer) => {
    if (answer.status !== 200) throw new Error(`GET /api/openapi.json answered ${answer.status}`)
    return JSON.parse(await answer.text(), isOlder ? withoutLimits : undefined) as Document
  })
  documents.set(origin, asked)
  return asked
}

async function findProblem(document: Document, method: string, path: string, response: Response) {
  if (path.startsWith("/api/auth/")) return null
  const described = findPath(document, path)
  if (!described) return path.startsWith("/api/") ? problemOfUnknown(response) : null
  const operation = described[method.toLowerCase()]
  if (!operation) {
    if (response.status === 401) return null // the guard comes first
    if (response.status !== 405) return "the document does not describe this method, so it should be 405"
    return problemOf(document.components.responses["MethodNotAllowed"], response, method === "HEAD")
  }
  return problemOf(operation.responses[response.status], response, method === "HEAD")
}

function problemOfUnknown({ status }: Response) {
  return status === 401 || status === 404 ? null : "the document does not describe this address"
}

async function problemOf(
  answer: Answer | undefined,
  response: Response,
  isHead: boolean,
): Promise<string | null> {
  if (!answer) return "the document does not describe this status"
  for (const [name, header] of Object.entries(answer.headers ?? {})) {
    const value = response.headers.get(name)
    if (value === null && header.required) return `the header ${name} is missing`
    const wrong = value === null ? null : mismatch(header.schema, value)
    if (wrong) return `the header ${name} ${wrong}`
  }
  const type = response.headers.get("content-type")?.split(";", 1)[0] ?? ""
  if (!answer.content) return type.startsWith("text/html") ? "the document describes no page here" : null
  const media = answer.content[type] ?? answer.content["*/*"]
  if (!media) return `the document does not describe the type ${type || "(none)"}`
  if (type !== "application/json" || isHead) return null
  const body: unknown = await response.clone().json()
  const wrong = mismatch(media.schema, body)
  return wrong ? `the body ${wrong}` : problemOfReason(answer, body)
}

/** Reasons of the guard's, which every operation shares. */
const EVERYWHERE: ReadonlySet<string> = new Set([
  "key-limited",
  "key-scope-missing",
  "request-foreign",
  "second-factor-missing",
])

/** The description of a declared operation's refusal names all of its reasons. */
function problemOfReason({ description }: Answer, body: unknown): string | null {
  if (!/^`[a-z-]+`: /.test(description) || typeof body !== "object" || body === null) return null
  const reason = "reason" in body ? String(body.reason) : ""
  if (reason === "" || EVERYWHERE.has(reason) || description.includes(`\`${reason}\`: `)) return null
  return `the document does not name the reason ${reason}`
}

function findPath({ paths }: Document, path: string): PathItem | undefined {
  if (paths[path]) return paths[path]
  const match = Object.keys(paths).find((template) => {
    const parts = template.split("/")
    const given = path.split("/")
    return (
      parts.length === given.length &&
      parts.every((part, i) => part === given[i] || (part.startsWith("{") && given[i]))
    )
  })
  return match === undefined ? undefined : paths[match]
}

export const ajv = new Ajv2020({
  strict: false,
  allErrors: true,
  formats: {
    "date-time": (value) =>
      /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(value) && !Number.isNaN(Date.parse(value)),
    uuid: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i,
    email: /^\S+@\S+$/,
    uri: (value) => URL.canParse(value),
  },
})

function mismatch(schema: object, value: unknown): string | null {
  return ajv.validate(schema, value) ? null : `is not as described: ${ajv.errorsText()}`
}

interface Answer {
  description: string
  headers?: Record<string, { required?: boolean; schema: object }>
  content?: Record<string, { schema: object }>
}

type PathItem = Record<string, { responses: Record<string, Answer> }>

interface Document {
  paths: Record<string, PathItem>
  components: { responses: Record<string, Answer> }
}
