import { and, eq, isNull, sql } from "drizzle-orm"
import { openDatabase, type Database } from "#db/client.ts"
import { chatMessages, chatThreads } from "#db/schema/chat.ts"
import { blobs, files } from "#db/schema/files.ts"
import { ROLES, spaceMembers, spaces } from "#db/schema/spaces.ts"
import { users, type User } from "#db/schema/users.ts"
import { renameThread } from "#server/chat/threads.ts"
import { isRefusal } from "#server/errors.ts"
import type { Viewer } from "#server/scope.ts"
import type { seeded } from "./form.ts"
import type { Effect } from "./space-model.ts"

export type Chance = ReturnType<typeof seeded>

export const PEOPLE = ["ada", "bob", "cleo", "dora", "eve"]

/** What one trial works on. */
export interface Place {
  spaces: string[]
  threads: string[]
  messages: string[]
  files: string[]
}

/** Transactions in the order of their commits. The last one may not have been committed yet. */
export interface History {
  transactions: Effect[][]
  committed: number
}

/** Writes random transactions, and knows the order in which they were committed. */
export async function openWorld(databaseUrl: string) {
  const database = openDatabase(databaseUrl, { connections: 5 })
  const { db } = database
  const people = new Map<string, User>()
  for (const name of PEOPLE) {
    const [user] = await db
      .insert(users)
      .values({ clerkId: name, email: `${name}@example.org` })
      .returning()
    people.set(name, user!)
  }
  const [blob] = await db
    .insert(blobs)
    .values({ key: "bytes", size: 8, sha256: "0".repeat(64) })
    .returning()
  const storageId = blob!._id
  /** Who wins the next commit: one after the other, so that their order is known. */
  let committing: Promise<unknown> = Promise.resolve()
  let serial = 0
  const idOf = (person: string) => people.get(person)!._id
  const nameOf = new Map([...people].map(([name, { _id }]) => [_id, name]))
  const token = () => `tok${++serial}x`

  /** Adds the effects to the history at the commit. What a deadlock or a refusal rolls back adds nothing. */
  async function commit(history: History, work: (tx: Database) => Promise<Effect[]>): Promise<void> {
    let done: (() => void) | undefined
    try {
      await db.transaction(async (tx) => {
        const effects = await work(tx)
        const before = committing
        committing = new Promise<void>((resolve) => (done = resolve))
        await before
        history.transactions.push(effects)
      })
      history.committed += 1
    } catch (error) {
      if (!isRefusal(error) && !isDeadlock(error)) throw error
    } finally {
      done?.()
    }
  }

  /** Two spaces with random members, conversations and a file in each, and a personal conversation. */
  async function begin(history: History, chance: Chance): Promise<Place> {
    const place: Place = { spaces: [], threads: [], messages: [], files: [] }
    await commit(history, async (tx) => {
      const added = await tx
        .insert(spaces)
        .values([1, 2].map(() => ({ name: token(), slug: crypto.randomUUID() })))
        .returning()
      const members = added.flatMap(({ _id: space }) => {
        const some = PEOPLE.filter(() => chance.chance(0.6))
        return (some.length > 0 ? some : ["ada"]).map((person, at) => ({
          kind: "member" as const,
          space,
          person,
          role: at === 0 ? ("owner" as const) : pick(chance, ROLES.slice(1)),
        }))
      })
      await tx
        .insert(spaceMembers)
        .values(members.map(({ space, person, role }) => ({ spaceId: space, userId: idOf(person), role })))
      place.spaces = added.map(({ _id }) => _id)
      const owners = members.filter(({ role }) => role === "owner")
      const places = owners.map(({ space, person }) => ({ author: person, spaceId: space }))
      return [
        ...added.map(({ _id, name }) => ({ kind: "space" as const, space: _id, token: name })),
        ...members,
        ...(await addThreads(tx, place, [...places, { author: pick(chance, PEOPLE), spaceId: null }])),
        ...(await addFiles(tx, place, places)),
      ]
    })
    return place
  }

  async function addThreads(
    tx: Database,
    place: Place,
    wanted: readonly { author: string; spaceId: string | null }[],
  ): Promise<Effect[]> {
    const added = await tx
      .insert(chatThreads)
      .values(
        wanted.map(({ author, spaceId }) => ({
          userId: idOf(author),
          title: token(),
          titleSource: "user" as const,
          lastMessageAt: serial,
          spaceId,
        })),
      )
      .returning()
    place.threads.push(...added.map(({ _id }) => _id))
    const effects = added.map(({ _id, userId, title, spaceId }): Effect => {
      const author = nameOf.get(userId)!
      return { kind: "thread", thread: _id, author, token: title, place: spaceId ?? author }
    })
    const first = added.map(({ _id, userId }) => ({ author: nameOf.get(userId)!, threadId: _id }))
    return [...effects, ...(await post(tx, place, first))]
  }

  async function post(
    tx: Database,
    place: Place,
    wanted: readonly { author: string; threadId: string }[],
  ): Promise<Effect[]> {
    if (wanted.length === 0) return []
    const added = await tx
      .insert(chatMessages)
      .values(
        wanted.map(({ author, threadId }) => ({
          userId: idOf(author),
          threadId,
          role: "user" as const,
          content: token(),
        })),
      )
      .returning()
    place.messages.push(...added.map(({ _id }) => _id))
    return added.map(({ _id, threadId, userId, content }) => ({
      kind: "message",
      message: _id,
      thread: threadId,
      author: nameOf.get(userId)!,
      token: content,
    }))
  }

  async function addFiles(
    tx: Database,
    place: Place,
    wanted: readonly { author: string; spaceId: string }[],
  ): Promise<Effect[]> {
    const added = await tx
      .insert(files)
      .values(
        wanted.map(({ author, spaceId }) => ({
          userId: idOf(author),
          spaceId,
          storageId,
          fileName: token(),
          mimeType: "text/plain",
          size: 8,
        })),
      )
      .returning()
    place.files.push(...added.map(({ _id }) => _id))
    return added.map(({ _id, spaceId, fileName }) => ({
      kind: "file",
      file: _id,
      place: spaceId!,
      trashed: false,
      token: fileName,
    }))
  }

  async function edit(tx: Database, place: Place, chance: Chance): Promise<Effect[]> {
    const message = pick(chance, place.messages)
    const content = token()
    const [edited] = await tx
      .update(chatMessages)
      .set({ content })
      .where(eq(chatMessages._id, message))
      .returning()
    if (!edited) return []
    const author = nameOf.get(edited.userId)!
    return [{ kind: "message", message, thread: edited.threadId, author, token: content }]
  }

  /** By the product's own function, which asks for the right. */
  async function rename(tx: Database, person: string, thread: string): Promise<Effect[]> {
    const title = token()
    await renameThread({ db: tx, viewer: viewerOf(people.get(person)!) }, thread, { title })
    return [
      { kind: "acted", person, thread },
      { kind: "thread", thread, token: title },
    ]
  }

  async function leave(tx: Database, space: string, person: string): Promise<Effect[]> {
    const here = and(eq(spaceMembers.spaceId, space), eq(spaceMembers.userId, idOf(person)))
    const gone = await tx
      .delete(spaceMembers)
      .where(and(here, sql`${spaceMembers.role} <> 'owner'`))
      .returning()
    return gone.length > 0 ? [{ kind: "member", space, person, role: null }] : []
  }

  async function join(tx: Database, space: string, person: string, chance: Chance): Promise<Effect[]> {
    const [joined] = await tx
      .insert(spaceMembers)
      .values({ spaceId: space, userId: idOf(person), role: pick(chance, ROLES.slice(1)) })
      .onConflictDoUpdate({
        target: [spaceMembers.spaceId, spaceMembers.userId],
        set: { role: sql`excluded.role` },
        setWhere: sql`${spaceMembers.role} <> 'owner'`,
      })
      .returning()
    return joined ? [{ kind: "member", space, person, role: joined.role }] : []
  }

  async function changeSpace(tx: Database, space: string, chance: Chance): Promise<Effect[]> {
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

  async function changeThread(tx: Database, place: Place, thread: string, chance: Chance): Promise<Effect[]> {
    if (chance.chance(0.3)) {
      const trashed = chance.chance(0.5)
      await tx
        .update(chatThreads)
        .set({ trashed, trashedAt: trashed ? 1 : null })
        .where(eq(chatThreads._id, thread))
      return [{ kind: "thread", thread, trashed }]
    }
    const spaceId = chance.chance(0.3) ? null : pick(chance, place.spaces)
    const [moved] = await tx
      .update(chatThreads)
      .set({ spaceId })
      .where(eq(chatThreads._id, thread))
      .returning()
    return [{ kind: "thread", thread, place: spaceId ?? nameOf.get(moved!.userId)! }]
  }

  async function changeFile(tx: Database, place: Place, chance: Chance): Promise<Effect[]> {
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

  /** One random transaction: a change of who sees what, of a row, or both. */
  function write(history: History, place: Place, chance: Chance): Promise<void> {
    const [space, thread, person] = [
      pick(chance, place.spaces),
      pick(chance, place.threads),
      pick(chance, PEOPLE),
    ]
    const kind = chance.below(100)
    const posts = chance.below(3)
    return commit(history, async (tx) => {
      const effects: Effect[] = []
      if (kind < 16) effects.push(...(await leave(tx, space, person)))
      else if (kind < 30) effects.push(...(await join(tx, space, person, chance)))
      else if (kind < 38) effects.push(...(await changeSpace(tx, space, chance)))
      else if (kind < 48) effects.push(...(await changeThread(tx, place, thread, chance)))
      else if (kind < 62) effects.push(...(await rename(tx, person, thread)))
      else if (kind < 70) effects.push(...(await changeFile(tx, place, chance)))
      else if (kind < 74) effects.push(...(await addFiles(tx, place, [{ author: person, spaceId: space }])))
      else if (kind < 84) effects.push(...(await edit(tx, place, chance)))
      else if (kind < 88) effects.push(...(await drop(tx, place, chance)))
      const replies = Array.from({ length: posts }, () => ({ author: person, threadId: thread }))
      return [...effects, ...(await post(tx, place, replies))]
    })
  }

  return {
    db,
    people,
    token,
    /** How many texts there have been. */
    serial: () => serial,
    begin,
    write,
    async clear() {
      await db.delete(spaces)
      await db.delete(chatThreads).where(isNull(chatThreads.spaceId))
    },
    close: () => database.close(),
  }
}

async function drop(tx: Database, place: Place, chance: Chance): Promise<Effect[]> {
  const message = pick(chance, place.messages)
  // Its own transaction may not have been committed yet: then nothing is deleted.
  const gone = await tx.delete(chatMessages).where(eq(chatMessages._id, message)).returning()
  return gone.length > 0 ? [{ kind: "message-gone", message }] : []
}

export function viewerOf(user: User): Viewer {
  return { user, session: { userId: user.clerkId, sessionId: null, plan: "free", via: "cookie" } }
}

export type World = Awaited<ReturnType<typeof openWorld>>

export function pick<Item>(chance: Chance, items: readonly Item[]): Item {
  return items[chance.below(items.length)]!
}

function isDeadlock(error: unknown): boolean {
  const { code, cause } = error as { code?: unknown; cause?: unknown }
  return code === "40P01" || (cause !== undefined && isDeadlock(cause))
}
