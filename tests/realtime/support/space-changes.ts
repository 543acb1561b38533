import { eq } from "drizzle-orm"
import type { Database } from "#db/client.ts"
import { chatMessages } from "#db/schema/chat.ts"
import { files } from "#db/schema/files.ts"
import { spaces } from "#db/schema/spaces.ts"
import type { generator } from "./form.ts"
import type { Effect } from "./space-model.ts"

export type Chance = ReturnType<typeof generator>

/** What one trial works on. */
export interface Place {
  spaces: string[]
  threads: string[]
  messages: string[]
  files: string[]
}

let serial = 0

/** A text that no other world has either: it must not be shown there. */
export function token(): string {
  return `tok${++serial}x`
}

export function pick<Item>(chance: Chance, items: readonly Item[]): Item {
  return items[chance.below(items.length)]!
}

export async function changeSpace(tx: Database, space: string, chance: Chance): Promise<Effect[]> {
  if (chance.chance(0.4)) {
    const name = token()
    await tx.update(spaces).set({ name }).where(eq(spaces._id, space))
    return [{ kind: "space", space, token: name }]
  }
  const trashed = chance.chance(0.4)
  await tx
    .update(spaces)
    .set({ trashed, trashedAt: trashed ? 1 : null })
    .where(eq(spaces._id, space))
  return [{ kind: "space", space, trashed }]
}

export async function changeFile(tx: Database, place: Place, chance: Chance): Promise<Effect[]> {
  const file = pick(chance, place.files)
  const fileName = token()
  const trashed = chance.chance(0.3)
  const [changed] = await tx
    .update(files)
    .set({ fileName, trashed, trashedAt: trashed ? 1 : 0 })
    .where(eq(files._id, file))
    .returning()
  // What a deadlock has rolled back was never there.
  return changed ? [{ kind: "file", file, place: changed.spaceId!, trashed, token: fileName }] : []
}

export async function drop(tx: Database, place: Place, chance: Chance): Promise<Effect[]> {
  const message = pick(chance, place.messages)
  // Its own transaction may not have been committed yet: then nothing is deleted.
  const gone = await tx.delete(chatMessages).where(eq(chatMessages._id, message)).returning()
  return gone.length > 0 ? [{ kind: "message-gone", message }] : []
}
