import { declaredRoutes } from "./declared-operations.ts"
import { SECRET, THERE, type Standing } from "./space-content.ts"
import { BEGINNER, EDITORS, MEMBERS, OWNER, type Answers } from "./space-rights.ts"
import type { Person } from "./people.ts"
import { begin, metadataOf } from "./uploads.ts"

export interface Route {
  answers: Answers
  /** The status for those who may. */
  ok?: number
  path: string | ((people: Record<Standing, Person>) => Promise<string>)
  init?: () => RequestInit
}

/** The HTTP API about what is in a space, by operation; after a comma, in which way. */
export function apiRoutes(userIds: Record<Standing, string>): Record<string, Route> {
  return {
    ...declaredRoutes(userIds, OTHER_OPERATIONS),
    ...spaceRoutes(),
    ...chatRoutes(THERE),
    ...fileRoutes(THERE),
  }
}

/** Operations that no space is behind. */
export const OTHER_OPERATIONS = [
  "GET /api/health",
  "HEAD /api/health",
  "GET /api/realtime/token",
  "GET /api/openapi.json",
  "GET /api/realtime.json",
  "GET /sitemap.xml",
  "GET /robots.txt",
  "POST /api/email",
  "POST /api/users/sync",
  // What the server can do.
  "OPTIONS /api/files/uploads",
  "OPTIONS /api/files/uploads/{uploadId}",
]

function spaceRoutes(): Record<string, Route> {
  const path = `/api/spaces/${THERE.spaceId}`
  return {
    "GET /api/spaces/{spaceId}/picture": { answers: MEMBERS, path: `${path}/picture` },
    "PUT /api/spaces/{spaceId}/picture": {
      answers: OWNER,
      ok: 204,
      path: `${path}/picture`,
      init: () => ({ method: "PUT", body: PIXEL }),
    },
  }
}

function chatRoutes({ spaceId, threadId, messageId }: typeof THERE): Record<string, Route> {
  const path = `/api/chat/threads/${threadId}`
  const ask = (more: object) => {
    const messages = [{ id: "new", role: "user", parts: [{ type: "text", text: "Hi" }] }]
    const headers = { "Content-Type": "application/json", Prefer: "respond-async" }
    return () => ({ method: "POST", headers, body: JSON.stringify({ threadId, messages, ...more }) })
  }
  const toPeople = [{ id: "new", role: "user", parts: [{ type: "text", text: "@owner hello" }] }]
  const asked = { answers: EDITORS, ok: 202, path: "/api/chat" }
  return {
    "POST /api/chat, a message": { ...asked, init: ask({}) },
    "POST /api/chat, a message to people": { ...asked, init: ask({ messages: toPeople }) },
    "POST /api/chat, another reply": {
      ...asked,
      init: ask({
        messages: [{ id: "first", role: "user", parts: [{ type: "text", text: `${SECRET} asked` }] }],
        trigger: "regenerate-message",
      }),
    },
    "POST /api/chat, an edited message": { ...asked, init: ask({ replaces: messageId }) },
    "POST /api/chat, a new conversation": {
      ...asked,
      init: () => ask({ threadId: crypto.randomUUID(), createThread: true, spaceId })(),
    },
    "GET /api/chat/threads/{threadId}/export": { answers: MEMBERS, path: `${path}/export?format=json` },
    "GET /api/chat/{threadId}/stream": { answers: MEMBERS, ok: 204, path: `/api/chat/${threadId}/stream` },
  }
}

function fileRoutes({ spaceId, fileId }: typeof THERE): Record<string, Route> {
  const path = `/api/files/${fileId}`
  const there = `spaceId=${spaceId}`
  const created = { answers: EDITORS, ok: 201 }
  return {
    "POST /api/files, bytes": {
      ...created,
      path: `/api/files?name=b.txt&${there}`,
      init: () => ({ method: "POST", body: "b" }),
    },
    "POST /api/files, a form": {
      ...created,
      path: `/api/files?${there}`,
      init() {
        const body = new FormData()
        body.append("file", new Blob(["c"]), "c.txt")
        return { method: "POST", body }
      },
    },
    "GET /api/files/{fileId}": { answers: MEMBERS, path },
    "POST /api/files/archive, all that match": {
      answers: MEMBERS,
      path: "/api/files/archive",
      init: post({ all: { spaceId, q: "txt" } }),
    },
    "POST /api/files/archive, named": {
      answers: MEMBERS,
      path: "/api/files/archive",
      init: post({ ids: [fileId] }),
    },
    "POST /api/files/archive, all": {
      answers: MEMBERS,
      path: "/api/files/archive",
      init: () => ({ method: "POST", body: new URLSearchParams({ all: "1", spaceId }) }),
    },
    // It is no image.
    "GET /api/files/{fileId}/thumbnail": { answers: MEMBERS, ok: 415, path: `${path}/thumbnail` },
    "POST /api/files/uploads": {
      ...created,
      path: `/api/files/uploads?${there}`,
      init: () => ({
        method: "POST",
        headers: { ...TUS, "Upload-Length": "3", "Upload-Metadata": metadataOf("u.bin") },
      }),
    },
    "HEAD /api/files/uploads/{uploadId}": {
      answers: BEGINNER,
      path: beginUpload,
      init: () => ({ method: "HEAD", headers: TUS }),
    },
    "PATCH /api/files/uploads/{uploadId}": {
      answers: BEGINNER,
      ok: 204,
      path: beginUpload,
      init: () => ({
        method: "PATCH",
        headers: { ...TUS, "Content-Type": "application/offset+octet-stream", "Upload-Offset": "0" },
        body: "abc",
      }),
    },
    "DELETE /api/files/uploads/{uploadId}": {
      answers: BEGINNER,
      ok: 204,
      path: beginUpload,
      init: () => ({ method: "DELETE", headers: TUS }),
    },
  }
}

/** A PNG. */
export const PIXEL = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
)

const TUS = { "Tus-Resumable": "1.0.0" }

/** The editor's, which the others do not see. */
async function beginUpload({ editor }: Record<Standing, Person>): Promise<string> {
  const there = `?spaceId=${THERE.spaceId}`
  return (await begin((address, init) => editor(address + there, init), "u.bin", 3)).address
}

function post(body: object) {
  return withBody("POST", body)
}

function withBody(method: string, body: object) {
  return () => ({ method, headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) })
}
