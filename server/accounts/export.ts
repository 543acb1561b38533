import { exportFromSpaces } from "#server/chat/export-from-spaces.ts"
import { eachThread, writeThreadFiles } from "#server/chat/export.ts"
import { openAllFiles, openTrashedFiles } from "#server/files/archive.ts"
import { zipOf } from "#server/files/zip.ts"
import { writeJsonObject } from "#server/json-texts.ts"
import type { Scope } from "#server/scope.ts"
import { findOwnAccount } from "./own-account.ts"
import { findOwnRecords } from "./own-records.ts"
import { findPicture } from "./picture.ts"

type Exporting = Scope<"blobs" | "db" | "identity" | "log" | "viewer">

/**
 * All the viewer's data as a zip, generated while it is sent. Of spaces it has the memberships, what
 * the viewer wrote, and the names of the files that they added: the rest is everybody's there. Changes made in the meantime may or
 * may not be included.
 */
export function exportAccount(scope: Exporting): Response {
  const day = new Date().toISOString().slice(0, 10)
  return new Response(zipOf(collect(scope)), {
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
  yield { name: "records.json", input: writeJsonObject(await findOwnRecords(scope)) }
  const picture = await findPicture(scope)
  if (picture) yield { name: "picture.webp", input: picture }
  yield* writeThreads(scope, false)
  yield* within("trash/", writeThreads(scope, true))
  const fromSpaces = await exportFromSpaces(scope)
  if (fromSpaces) yield { name: "spaces/messages.json", input: fromSpaces }
  yield* within("files/", openAllFiles(scope))
  yield* within("trash/files/", openTrashedFiles(scope))
}

/**
 * In two formats, for people and for programs. The number distinguishes conversations with the same
 * title.
 */
async function* writeThreads(scope: Exporting, trashed: boolean) {
  let number = 0
  for await (const thread of eachThread(scope, { trashed })) {
    number += 1
    const lastModified = new Date(thread.lastMessageAt)
    for (const { name, text } of await writeThreadFiles(scope, thread))
      yield { name: `conversations/${number} ${name}`, lastModified, input: text }
  }
}

async function* within<Entry extends { name: string }>(folder: string, entries: AsyncIterable<Entry>) {
  for await (const entry of entries) yield { ...entry, name: folder + entry.name }
}
