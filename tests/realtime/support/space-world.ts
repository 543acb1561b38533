import { and, eq, inArray, isNull, sql } from "drizzle-orm"
import { openDatabase, type Database } from "#db/client.ts"
import { chatMessages, chatThreads } from "#db/schema/chat.ts"
import { blobs, files } from "#db/schema/files.ts"
import { ROLES, spaceMembers, spaces } from "#db/schema/spaces.ts"
import { users, type User } from "#db/schema/users.ts"
import { changeThread as renameThread } from "#server/chat/threads.ts"
import { isRefusal } from "#server/errors.ts"
import type { Viewer } from "#server/scope.ts"
import { changeFile, changeSpace, drop, pick, token, type Chance, type Place } from "./space-changes.ts"
import type { Effect } from "./space-model.ts"

/** Transactions in the order of their commits. The last one may not have been committed yet. */
export interface History {
  transactions: Effect[][]
  committed: number
}

/**
 * Five people whom no other world has. Writes random transactions, and knows the order in which
 * they were committed.
 */
export async function openWorld(databaseUrl: string, worldName: string) {
  const database = openDatabase(databaseUrl, { connections: 4 })
  const { db } = database
  const people = new Map<string, User>()
  const names = ["ada", "bob", "cleo", "dora", "eve"].map((name) => `${name}-${worldName}`)
  for (const name of names) {
    const [user] = await db
      .insert(users)
      .values({ clerkId: name, email: `${name}@example.org` })
      .returning()
    people.set(name, user!)
  }
  const [blob] = await db
    .insert(blobs)
    .values({ key: worldName, size: 8, sha256: "0".repeat(64) })
    .returning()
  const storageId = blob!._id
  /** Who wins the next commit: one after the other, so that their order is known. */
  let committing: Promise<unknown> = Promise.resolve()
  const idOf = (person: string) => people.get(person)!._id
  const nameOf = new Map([...people].map(([name, { _id }]) => [_id, name]))

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
        const some = names.filter(() => chance.chance(0.6))
        return (some.length > 0 ? some : names.slice(0, 1)).map((person, at) => ({
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
        ...(await addThreads(tx, place, [...places, { author: pick(chance, names), spaceId: null }])),
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
        wanted.map(({ author, spaceId }, at) => ({
          userId: idOf(author),
          title: token(),
          titleSource: "user" as const,
          lastMessageAt: at,
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

  /** One random transaction: a change of who sees what, of a row, or both. */
  function write(history: History, place: Place, chance: Chance): Promise<void> {
    const [space, thread, person] = [
      pick(chance, place.spaces),
      pick(chance, place.threads),
      pick(chance, names),
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

  /** A text in every list of the place, for those who may see it now. */
  function writeEverywhere(history: History, place: Place): Promise<void> {
    const author = names[0]!
    return commit(history, async (tx) => {
      const effects: Effect[] = []
      for (const space of place.spaces) {
        const name = token()
        await tx.update(spaces).set({ name }).where(eq(spaces._id, space))
        effects.push({ kind: "space", space, token: name })
      }
      for (const thread of place.threads) {
        const title = token()
        await tx.update(chatThreads).set({ title }).where(eq(chatThreads._id, thread))
        effects.push({ kind: "thread", thread, token: title })
      }
      const replies = place.threads.map((threadId) => ({ author, threadId }))
      const added = place.spaces.map((spaceId) => ({ author, spaceId }))
      return [...effects, ...(await post(tx, place, replies)), ...(await addFiles(tx, place, added))]
    })
  }

  return {
    people: names,
    begin,
    write,
    writeEverywhere,
    async clear() {
      const own = [...people.values()].map(({ _id }) => _id)
      const memberOf = db.select({ _id: spaceMembers.spaceId }).from(spaceMembers)
      await db.delete(spaces).where(inArray(spaces._id, memberOf.where(inArray(spaceMembers.userId, own))))
      await db.delete(chatThreads).where(and(isNull(chatThreads.spaceId), inArray(chatThreads.userId, own)))
    },
    close: () => database.close(),
  }
}

export function viewerOf(user: User): Viewer {
  return { user, session: { userId: user.clerkId, sessionId: null, plan: "free", via: "cookie" } }
}

export type World = Awaited<ReturnType<typeof openWorld>>

function isDeadlock(error: unknown): boolean {
  const { code, cause } = error as { code?: unknown; cause?: unknown }
  return code === "40P01" || (cause !== undefined && isDeadlock(cause))
}
