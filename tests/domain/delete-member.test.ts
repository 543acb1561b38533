import { eq } from "drizzle-orm"
import { beforeEach, describe, expect, it } from "vitest"
import { chatMessages, chatReplacedMessages, chatShares, chatThreads, chatTurns } from "#db/schema/chat.ts"
import { blobs, files, fileShares, fileUsage } from "#db/schema/files.ts"
import { spaceInvitations, spaceMembers, spaces } from "#db/schema/spaces.ts"
import { FORMER_MEMBER, users } from "#db/schema/users.ts"
import { deleteAccount } from "#server/accounts/delete-account.ts"
import { findWrongUsage } from "#server/files/usage.ts"
import { listPeople } from "#server/operator/people.ts"
import type { Identity } from "#server/ports/identity.ts"
import type { Services } from "#server/scope.ts"
import {
  handOverSpaces,
  listSharedSpaces,
  readSpaceChoices,
  requireSpaceChoices,
} from "#server/spaces/hand-over.ts"
import { aSpace } from "../support/domain-spaces.ts"
import { shareChatServices, type ChatScope as Person } from "../support/chat-services.ts"

const { chat } = await shareChatServices()
let ada: Person
let grace: Person
let mary: Person

beforeEach(async () => {
  await chat.db.delete(spaces)
  await chat.db.delete(users)
  ada = await chat.scopeOf("ada")
  grace = await chat.scopeOf("grace")
  mary = await chat.scopeOf("mary")
  const everybody = [ada, grace, mary].map(({ viewer }) => ({ userId: viewer.user._id }))
  await chat.db.insert(fileUsage).values(everybody)
})

describe("when a member's account is deleted", () => {
  it("what they added to the space stays, under nobody's name, and what was theirs alone goes", async () => {
    const spaceId = await aSpace(chat.db, [grace, "owner"], [ada, "editor"])
    const shared = await fill(ada, spaceId)
    const own = await fill(ada, null)
    await remove(ada)
    expect(await rowsOf(own)).toEqual([])
    expect(await rowsOf(shared)).toEqual([
      ["file", FORMER_MEMBER],
      ["thread", FORMER_MEMBER],
      ["message", FORMER_MEMBER],
      ["turn", FORMER_MEMBER],
      ["replaced", FORMER_MEMBER],
    ])
    // Their links end with them.
    expect(await chat.db.$count(fileShares)).toBe(0)
    expect(await chat.db.$count(chatShares)).toBe(0)
    expect(await rolesIn(spaceId)).toEqual([["grace", "owner"]])
    expect(await findWrongUsage(chat)).toEqual([])
  })

  it("a second one's is kept beside the first one's, and lists of people show neither", async () => {
    const spaceId = await aSpace(chat.db, [grace, "owner"], [ada, "editor"], [mary, "editor"])
    const kept = [await fill(ada, spaceId), await fill(mary, spaceId)]
    await remove(ada)
    await remove(mary)
    for (const ids of kept) expect(await rowsOf(ids)).toHaveLength(5)
    const people = await listPeople(chat, { q: "", limit: 10 })
    expect(people.map(({ email }) => email)).toEqual(["grace@example.org"])
  })

  it("messages in somebody else's conversation stay where they are", async () => {
    const spaceId = await aSpace(chat.db, [grace, "owner"], [ada, "editor"])
    const { threadId } = await fill(grace, spaceId)
    await chat.db
      .insert(chatMessages)
      .values({ userId: ada.viewer.user._id, threadId, role: "user", content: "Ada's question" })
    await remove(ada)
    const kept = await chat.db.select().from(chatMessages).where(eq(chatMessages.content, "Ada's question"))
    expect(kept).toMatchObject([{ threadId, userId: FORMER_MEMBER, spaceKey: spaceId }])
  })

  it("nothing is kept of somebody who added nothing", async () => {
    await aSpace(chat.db, [grace, "owner"], [ada, "reader"])
    await remove(ada)
    expect(await chat.db.$count(users, eq(users._id, FORMER_MEMBER))).toBe(0)
  })
})

describe("when an owner's account is deleted", () => {
  it("they are asked about every space that others are in", async () => {
    const engines = await aSpace(chat.db, [ada, "owner"], [grace, "reader"])
    await aSpace(chat.db, [ada, "owner"])
    await aSpace(chat.db, [grace, "owner"], [ada, "editor"])
    expect(await listSharedSpaces(ada)).toMatchObject([
      { spaceId: engines, members: [{ memberEmail: "grace@example.org" }] },
    ])
    await expect(requireSpaceChoices(ada, new Map())).rejects.toMatchObject({
      status: 409,
      reason: "account-owns-spaces",
    })
    const chosen = readSpaceChoices({
      confirmation: "secret",
      [`space-${engines}`]: grace.viewer.user._id,
      "space-nonsense": "delete",
    })
    expect([...chosen]).toEqual([[engines, grace.viewer.user._id]])
    await requireSpaceChoices(ada, chosen)
  })

  it("the chosen member gets the space and pays for it, or it is deleted for everybody", async () => {
    const engines = await aSpace(chat.db, [ada, "owner"], [mary, "editor"], [grace, "reader"])
    const cards = await aSpace(chat.db, [ada, "owner"], [grace, "editor"])
    const { fileId } = await fill(ada, engines)
    const gone = await fill(grace, cards)
    await remove(
      ada,
      new Map([
        [engines, grace.viewer.user._id],
        [cards, "delete"],
      ]),
    )
    expect(await rolesIn(engines)).toEqual([
      ["grace", "owner"],
      ["mary", "editor"],
    ])
    expect(await usedBy(grace)).toBe(8)
    expect(await chat.db.$count(files, eq(files._id, fileId))).toBe(1)
    expect(await rowsOf(gone)).toEqual([])
    expect(await rolesIn(cards)).toEqual([])
    expect(await findWrongUsage(chat)).toEqual([])
  })

  it("without a choice the longest standing editor gets it, or else a reader", async () => {
    const first = await aSpace(chat.db, [ada, "owner"], [grace, "reader"], [mary, "editor"])
    const second = await aSpace(chat.db, [ada, "owner"], [grace, "reader"])
    const alone = await aSpace(chat.db, [ada, "owner"])
    const trashed = await aSpace(chat.db, [ada, "owner"], [grace, "editor"])
    await chat.db.update(spaces).set({ trashed: true, trashedAt: 1 }).where(eq(spaces._id, trashed))
    await fill(mary, first)
    // As somebody at the database would.
    await chat.db.delete(users).where(eq(users._id, ada.viewer.user._id))
    expect(await rolesIn(first)).toEqual([
      ["grace", "reader"],
      ["mary", "owner"],
    ])
    expect(await rolesIn(second)).toEqual([["grace", "owner"]])
    expect(await rolesIn(alone)).toEqual([])
    expect(await chat.db.$count(spaces, eq(spaces._id, trashed))).toBe(0)
    expect(await usedBy(mary)).toBe(8)
    expect(await findWrongUsage(chat)).toEqual([])
  })

  it("a chosen member who has left in the meantime does not get it", async () => {
    const spaceId = await aSpace(chat.db, [ada, "owner"], [mary, "reader"])
    await chat.db.transaction((tx) =>
      handOverSpaces({ db: tx }, ada.viewer.user._id, new Map([[spaceId, grace.viewer.user._id]])),
    )
    expect(await rolesIn(spaceId)).toEqual([
      ["ada", "owner"],
      ["mary", "reader"],
    ])
  })

  it("open invitations to a space that somebody else owns now stay open", async () => {
    const spaceId = await aSpace(chat.db, [ada, "owner"], [grace, "editor"])
    const userId = ada.viewer.user._id
    await chat.db.insert(spaceInvitations).values({
      spaceId,
      userId,
      role: "reader",
      tokenHash: "a".repeat(64),
      hint: "abcd",
      expiresAt: Date.now(),
    })
    await remove(ada)
    expect(await chat.db.select().from(spaceInvitations)).toMatchObject([{ spaceId, userId: FORMER_MEMBER }])
  })
})

async function remove({ viewer }: Person, choices?: ReadonlyMap<string, string>) {
  const identity = {
    getUser: async () => null,
    deleteUser: async () => {},
  } satisfies Partial<Identity> as unknown as Identity
  const live = { revokeUser: async () => {} } satisfies Partial<
    Services["live"]
  > as unknown as Services["live"]
  await deleteAccount({ ...chat, identity, live }, viewer.user, choices)
}

/** A file, a conversation with a message, a reply and an earlier version, and links. */
async function fill({ viewer }: Person, spaceId: string | null) {
  const userId = viewer.user._id
  const [blob] = await chat.db
    .insert(blobs)
    .values({ key: crypto.randomUUID(), size: 8, sha256: "0".repeat(64) })
    .returning()
  const fileName = crypto.randomUUID()
  const [file] = await chat.db
    .insert(files)
    .values({ userId, spaceId, storageId: blob?._id ?? "", fileName, mimeType: "text/plain", size: 8 })
    .returning()
  if (spaceId === null) await chat.db.update(fileUsage).set({ used: 8 }).where(eq(fileUsage.userId, userId))
  const [thread] = await chat.db
    .insert(chatThreads)
    .values({ userId, spaceId, title: "A talk", lastMessageAt: 1 })
    .returning()
  const ids = { fileId: file?._id ?? "", threadId: thread?._id ?? "" }
  const inThread = { userId, threadId: ids.threadId }
  const [message] = await chat.db
    .insert(chatMessages)
    .values({ ...inThread, role: "user", content: "A question" })
    .returning()
  const questionId = message?._id ?? ""
  await chat.db.insert(chatTurns).values({
    ...inThread,
    _id: questionId,
    questionId,
    requestId: "q",
    status: "completed",
    model: "a-model",
  })
  await chat.db
    .insert(chatReplacedMessages)
    .values({ ...inThread, role: "user", content: "Before", replacedBy: questionId, replacedAt: 1 })
  await chat.db.insert(chatShares).values({ ...inThread, tokenHash: token(), hint: "abcd" })
  await chat.db.insert(fileShares).values({ userId, fileId: ids.fileId, tokenHash: token(), hint: "abcd" })
  return ids
}

function token(): string {
  return crypto.randomUUID().replaceAll("-", "").repeat(2)
}

/** What is left of what `fill` added, with whose it is. */
async function rowsOf({ fileId, threadId }: { fileId: string; threadId: string }) {
  const { db } = chat
  const found = [
    ["file", await db.select().from(files).where(eq(files._id, fileId))],
    ["thread", await db.select().from(chatThreads).where(eq(chatThreads._id, threadId))],
    ["message", await db.select().from(chatMessages).where(eq(chatMessages.threadId, threadId))],
    ["turn", await db.select().from(chatTurns).where(eq(chatTurns.threadId, threadId))],
    [
      "replaced",
      await db.select().from(chatReplacedMessages).where(eq(chatReplacedMessages.threadId, threadId)),
    ],
  ] as const
  return found.flatMap(([kind, rows]) => rows.map(({ userId }) => [kind, userId]))
}

async function rolesIn(spaceId: string): Promise<[string, string][]> {
  const rows = await chat.db
    .select({ email: spaceMembers.memberEmail, role: spaceMembers.role })
    .from(spaceMembers)
    .where(eq(spaceMembers.spaceId, spaceId))
    .orderBy(spaceMembers.memberEmail)
  return rows.map(({ email, role }) => [email.replace("@example.org", ""), role])
}

async function usedBy({ viewer }: Person): Promise<number | undefined> {
  const [usage] = await chat.db.select().from(fileUsage).where(eq(fileUsage.userId, viewer.user._id))
  return usage?.used
}
