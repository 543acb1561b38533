import { makeZip } from "client-zip"
import { listThreads } from "../chat/threads.ts"
import { writeThread } from "../chat/export.ts"
import { openAllFiles } from "../files/archive.ts"
import type { Scope } from "../scope.ts"
import { findOwnAccount } from "./own-account.ts"

type Exporting = Scope<"blobs" | "db" | "identity" | "viewer">

/** Everything of the viewer's as a zip, made while it is sent. What changes meanwhile is in it as it was or as it is. */
export function exportAccount(scope: Exporting): Response {
  const day = new Date().toISOString().slice(0, 10)
  return new Response(makeZip(collect(scope), { buffersAreUTF8: true }), {
    headers: {
      "Cache-Control": "private, no-store, no-transform",
      "Content-Disposition": `attachment; filename="Tideline ${day}.zip"`,
      "Content-Type": "application/zip",
    },
  })
}

async function* collect(scope: Exporting) {
  const { user } = scope.viewer
  const account = { user, ...(await findOwnAccount(scope)) }
  yield { name: "account.json", input: `${JSON.stringify(account, null, 2)}\n` }
  yield* writeThreads(scope)
  for await (const file of openAllFiles(scope)) yield { ...file, name: `files/${file.name}` }
}

/** Twice: to read, and for programs. The number tells those of one title apart. */
async function* writeThreads(scope: Exporting) {
  let number = 0
  let cursor: string | undefined
  do {
    const page = await listThreads(scope, { cursor, limit: 50 })
    for (const thread of page.threads) {
      number += 1
      for (const format of ["markdown", "json"] as const) {
        const { name, text } = await writeThread(scope, thread, format)
        const lastModified = new Date(thread.lastMessageAt)
        yield { name: `conversations/${number} ${name}`, lastModified, input: text }
      }
    }
    cursor = page.nextCursor ?? undefined
  } while (cursor !== undefined)
}
