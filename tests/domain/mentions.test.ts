import { and, desc, eq, inArray, sql } from "drizzle-orm"
import { beforeEach, describe, expect, it } from "vitest"
import { chatMessages, chatThreads, chatTurns } from "#db/schema/chat.ts"
import { mailOutbox } from "#db/schema/mail.ts"
import { notifications } from "#db/schema/notifications.ts"
import { spaceMembers, spaces, type Role } from "#db/schema/spaces.ts"
import { users } from "#db/schema/users.ts"
import { openTurn } from "#server/chat/open-turn.ts"
import { restoreThread, trashThread } from "#server/chat/trash.ts"
import { sendNextMention } from "#server/notifications/emails.ts"
import { findMentions, findUnmatched, nameMembers } from "#server/notifications/mention-contract.ts"
import { listNotifications, markRead } from "#server/notifications/notifications.ts"
import { saveNotificationSettings } from "#server/notifications/settings.ts"
import { removeMember } from "#server/spaces/members.ts"
import { restoreSpace, trashSpace } from "#server/spaces/spaces.ts"
import { shareChatServices, type ChatScope } from "../support/chat-services.ts"

const { chat, ada, grace } = await shareChatServices()
const mary = await chat.scopeOf("mary")
const ALL = { limit: 50 } as const
let spaceId: string

beforeEach(async () => {
  await chat.db.delete(spaces)
  await chat.db.delete(chatThreads)
  await chat.db.delete(mailOutbox)
  for (const [person, name] of [
    [ada, "Ada Lovelace"],
    [grace, "Grace Hopper"],
    [mary, null],
  ] as const)
    await chat.db
      .update(users)
      .set({ name, notifiesInApp: true, notifiesByEmail: true })
      .where(eq(users._id, person.viewer.user._id))
  ada.viewer.user.name = "Ada Lovelace"
  spaceId = await aSpace([ada, "owner"], [grace, "reader"])
})

describe("a text", () => {
  it.each([
    ["Ask @Ada Lovelace.", ["@Ada Lovelace"]],
    ["@Ada and @ada lovelace, or (@Grace)", ["@Ada", "@ada lovelace", "@Grace"]],
    ["@Adam, @Ada_ and @Ada1 are others, @Ada's card is not", ["@Ada"]],
    ["Write to ada@example.org", []],
    ["@ada@example.org has the cards", ["@ada@example.org"]],
    ["@ada@example.com is nobody", []],
    ["@@Ada", ["@Ada"]],
    ["@", []],
    ["@Zoë, @Émile Ó and @Zoë1", ["@Zoë", "@Émile Ó"]],
  ])("%j mentions %j", (text, mentioned) => {
    const names = ["Ada", "Ada Lovelace", "Grace", "ada@example.org", "Zoë", "Émile Ó", ""]
    expect(findMentions(text, names).map(({ from, to }) => text.slice(from, to))).toEqual(mentioned)
  })
})

it("a text of nothing but mentions is searched in a bounded number of steps", () => {
  const names = Array.from({ length: 1000 }, (_, place) => "a".repeat(1 + (place % 200)) + place)
  const sought = "@a ".repeat(10_000)
  expect(findMentions(`${sought}@a0`, names)).toEqual([])
  expect(findMentions("@a0 ".repeat(8000), names)).toHaveLength(1000)
})

describe("a first name", () => {
  const members = [
    ["1", "Ada Lovelace"],
    ["2", "Ada Byron"],
    ["3", "Grace Hopper"],
    ["4", "Grace"],
    ["5", "Zoë Smith"],
    ["6", "J. Smith"],
    ["7", null],
  ].map(([userId = "", memberName = null]) => ({
    userId: userId ?? "",
    memberName,
    memberEmail: `${userId}@x.org`,
  }))

  it("mentions the only person who is called so, and nobody if several are", () => {
    const named = nameMembers(members)
    expect(named.get("zoë")?.userIds).toEqual(["5"])
    expect(named.get("ada")).toBeUndefined()
    expect(named.get("grace")?.userIds).toEqual(["4"])
    expect(named.get("j.")).toBeUndefined()
    expect(named.get("7@x.org")?.userIds).toEqual(["7"])
  })

  it("mentions its owner in a stored message, by which a page marks it", async () => {
    const { messageId } = await write(ada, "@grace, is it high water?")
    expect(await messageOf(messageId)).toMatchObject({ mentions: ["Grace"] })
    expect(await unreadOf(grace)).toBe(1)
    await chat.db.update(users).set({ name: "Grace Allen" }).where(eq(users._id, mary.viewer.user._id))
    await join(mary, "editor")
    const second = await write(ada, "@grace, is it high water?")
    expect(await messageOf(second.messageId)).toMatchObject({ mentions: null })
    expect([await unreadOf(grace), await unreadOf(mary)]).toEqual([1, 0])
  })

  it.each([
    ["@Bob, can you?", ["Bob"]],
    ["@Zoë and @Bob's boat, (@bob)", ["Bob", "bob"]],
    ["@Ada", ["Ada"]],
    ["bob@example.org, @bob@example.org and https://example.org/@bob", []],
    ["npm i @types/node @bob-team/x; `@Bob`\n```java\n@Override\n```", []],
    ["@3 and @", []],
    ["Was it @Bob?", ["Bob"]],
  ])("%j seems to mention %j, who is nobody", (text, words) => {
    const names = Array.from(nameMembers(members).values(), ({ name }) => name)
    expect(findUnmatched(text, names)).toEqual(words)
  })
})

describe("a message that mentions members of its space", () => {
  it("is stored with their names, and each is notified with the words around it", async () => {
    const { threadId, messageId } = await write(
      ada,
      `${"A long story. ".repeat(20)}What does @grace hopper think?`,
    )
    expect(await messageOf(messageId)).toMatchObject({ mentions: ["Grace Hopper"] })
    const { notifications: listed, unread } = await listNotifications(grace, ALL)
    expect(unread).toBe(1)
    expect(listed).toMatchObject([
      {
        spaceId,
        threadId,
        messageId,
        authorName: "Ada Lovelace",
        authorId: ada.viewer.user._id,
        read: false,
      },
    ])
    expect(listed[0]?.excerpt).toMatch(/^….*A long story\. What does @grace hopper think\?$/)
    expect(await listNotifications(ada, ALL)).toMatchObject({ notifications: [], unread: 0 })
  })

  it("notifies nobody who is no member, not its author, and nobody if it is personal", async () => {
    const { messageId } = await write(ada, "@mary@example.org, @Ada Lovelace and @everybody")
    expect(await messageOf(messageId)).toMatchObject({ mentions: ["Ada Lovelace"] })
    expect(await chat.db.$count(notifications)).toBe(0)
    const own = await write(ada, "@Grace Hopper", { place: null })
    expect(await messageOf(own.messageId)).toMatchObject({ mentions: null })
    expect(await chat.db.$count(notifications)).toBe(0)
  })

  it("notifies each of those who share a name, and one of them by the address", async () => {
    await chat.db.update(users).set({ name: "Grace Hopper" }).where(eq(users._id, mary.viewer.user._id))
    await join(mary, "editor")
    await write(ada, "@Grace Hopper?")
    expect([await unreadOf(grace), await unreadOf(mary)]).toEqual([1, 1])
    await write(ada, "@mary@example.org!")
    expect([await unreadOf(grace), await unreadOf(mary)]).toEqual([1, 2])
  })

  it("replaces the notification of the message that it replaces", async () => {
    const { threadId, messageId } = await write(ada, "@Grace Hopper, one")
    await write(ada, "@Grace Hopper, two", { threadId, replaces: messageId })
    const { notifications: listed } = await listNotifications(grace, ALL)
    expect(listed.map(({ excerpt }) => excerpt)).toEqual(["@Grace Hopper, two"])
  })

  it("does not wait for a membership that is being ended, and does not notify its member", async () => {
    await chat.db.transaction(async (tx) => {
      await tx.delete(spaceMembers).where(memberOf(grace))
      await write(ada, "@Grace Hopper")
    })
    expect(await chat.db.$count(notifications)).toBe(0)
  })
})

describe("a notification", () => {
  it("is read with its conversation, or with all others", async () => {
    const first = await write(ada, "@Grace Hopper, first")
    await write(ada, "@Grace Hopper, second")
    await write(ada, "@Grace Hopper, third")
    expect(await markRead(grace, { threadId: first.threadId })).toEqual({ marked: 1 })
    expect(await markRead(grace, { threadId: first.threadId })).toEqual({ marked: 0 })
    expect(await unreadOf(grace)).toBe(2)
    const { notifications: unread } = await listNotifications(grace, { ...ALL, unread: "true" })
    expect(unread.map(({ excerpt }) => excerpt)).toEqual(["@Grace Hopper, third", "@Grace Hopper, second"])
    expect(await markRead(ada, {})).toEqual({ marked: 0 })
    expect(await markRead(grace, {})).toEqual({ marked: 2 })
    const { notifications: listed } = await listNotifications(grace, ALL)
    expect(listed.map(({ read }) => read)).toEqual([true, true, true])
  })

  it("is listed in pages", async () => {
    for (const text of ["one", "two", "three"]) await write(ada, `@Grace Hopper, ${text}`)
    const first = await listNotifications(grace, { limit: 2 })
    expect(first.notifications.map(({ excerpt }) => excerpt)).toEqual([
      "@Grace Hopper, three",
      "@Grace Hopper, two",
    ])
    const second = await listNotifications(grace, { limit: 2, cursor: first.nextCursor ?? "" })
    expect(second).toMatchObject({
      notifications: [{ excerpt: "@Grace Hopper, one" }],
      nextCursor: null,
      unread: 3,
    })
  })

  it("goes with its reader's membership, and does not come back", async () => {
    await write(ada, "@Grace Hopper")
    await removeMember(ada, spaceId, grace.viewer.user._id)
    expect(await chat.db.$count(notifications)).toBe(0)
    await join(grace, "reader")
    expect(await unreadOf(grace)).toBe(0)
  })

  it("is hidden while its conversation or its space is in the trash", async () => {
    const { threadId } = await write(ada, "@Grace Hopper")
    await trashThread(ada, threadId)
    expect(await unreadOf(grace)).toBe(0)
    await trashSpace(ada, spaceId)
    await restoreSpace(ada, spaceId)
    expect(await unreadOf(grace)).toBe(0)
    await restoreThread(ada, threadId)
    expect(await unreadOf(grace)).toBe(1)
    await trashSpace(ada, spaceId)
    expect(await unreadOf(grace)).toBe(0)
    expect(await markRead(grace, {})).toEqual({ marked: 0 })
    await restoreSpace(ada, spaceId)
    expect(await unreadOf(grace)).toBe(1)
  })

  it("goes when the conversation is moved to another place", async () => {
    const { threadId } = await write(ada, "@Grace Hopper")
    await chat.db.update(chatThreads).set({ spaceId: null }).where(eq(chatThreads._id, threadId))
    expect(await chat.db.$count(notifications)).toBe(0)
  })

  it("stays without a name when its author's account is deleted", async () => {
    await join(mary, "editor")
    await write(mary, "@Grace Hopper")
    await chat.db.delete(users).where(eq(users._id, mary.viewer.user._id))
    const { notifications: listed } = await listNotifications(grace, ALL)
    expect(listed).toMatchObject([{ authorId: null, authorName: null, excerpt: "@Grace Hopper" }])
    await chat.db.insert(users).values(mary.viewer.user)
  })
})

describe("an email about mentions", () => {
  it("is queued for what is unread after ten minutes, one for all conversations", async () => {
    const { threadId } = await write(ada, "@Grace Hopper, first")
    await write(ada, "@Grace Hopper, second", { threadId })
    await write(ada, "@Grace Hopper, elsewhere")
    expect(await sendNextMention(chat)).toBe(false)
    await letPass(10)
    expect(await sendAll()).toBe(1)
    const [email, ...others] = await chat.db.select().from(mailOutbox)
    expect(others).toEqual([])
    expect(email).toMatchObject({
      kind: "mention",
      recipient: "grace@example.org",
      userId: grace.viewer.user.clerkId,
    })
    expect(email?.text).toContain("2 conversations in Engines")
    for (const text of ["first", "second", "elsewhere"])
      expect(email?.text).toContain(`Ada Lovelace: Grace Hopper, ${text}`)
    expect(email?.text).toContain("/dashboard/notifications")
    expect(await sendAll()).toBe(0)
  })

  it("opens the conversation if it is about one, at the first of its messages", async () => {
    const { threadId, messageId } = await write(ada, "@Grace Hopper, first")
    await write(ada, "@Grace Hopper, second", { threadId })
    await letPass(10)
    expect(await sendAll()).toBe(1)
    const [email] = await chat.db.select().from(mailOutbox)
    expect(email?.text).toContain(`/s/engines/chat/${threadId}#message-${messageId}`)
  })

  it("is sent to each of 50 people three times an hour, however many conversations, spaces and authors mention them", async () => {
    const many = Array.from({ length: 50 }, (_, place) => ({
      clerkId: `crowd_${place}`,
      email: `crowd-${place}@example.org`,
      name: `Reader ${place}`,
    }))
    const crowd = await chat.db.insert(users).values(many).returning()
    const [other] = await chat.db.insert(spaces).values({ name: "Looms", slug: "looms" }).returning()
    const looms = other?._id ?? ""
    await join(mary, "editor")
    for (const each of [spaceId, looms]) {
      const members = crowd.map(({ _id }) => ({ spaceId: each, userId: _id, role: "editor" as const }))
      await chat.db.insert(spaceMembers).values(members)
    }
    for (const person of [ada, mary]) {
      const member = { spaceId: looms, userId: person.viewer.user._id }
      await chat.db.insert(spaceMembers).values({ ...member, role: person === ada ? "owner" : "editor" })
    }
    const everybody = many.map(({ name }) => `@${name}`).join(" ")
    for (let quarter = 0; quarter < 12; quarter++) {
      for (const author of [ada, mary])
        await write(author, everybody, { place: author === ada ? spaceId : looms })
      for (let check = 0; check < 5; check++) {
        await letPass(1)
        await sendAll()
      }
    }
    const counts = await chat.db
      .select({ to: mailOutbox.recipient, sent: sql<number>`count(*)::int` })
      .from(mailOutbox)
      .groupBy(mailOutbox.recipient)
    expect(await chat.db.$count(notifications)).toBe(24 * 50)
    expect(counts).toHaveLength(50)
    expect(Math.max(...counts.map(({ sent }) => sent))).toBeLessThanOrEqual(3)
    const [last] = await chat.db.select().from(mailOutbox).orderBy(desc(mailOutbox._id)).limit(1)
    expect(last?.text).toContain("in Looms: ")
    await chat.db.delete(users).where(
      inArray(
        users.clerkId,
        many.map(({ clerkId }) => clerkId),
      ),
    )
  }, 60_000)

  it("is queued again, without what its reader may no longer see", async () => {
    const [other] = await chat.db.insert(spaces).values({ name: "Looms", slug: "looms" }).returning()
    const looms = other?._id ?? ""
    for (const [person, role] of [
      [ada, "owner"],
      [grace, "reader"],
    ] as const)
      await chat.db.insert(spaceMembers).values({ spaceId: looms, userId: person.viewer.user._id, role })
    await write(ada, "@Grace Hopper, secret", { place: looms })
    await write(ada, "@Grace Hopper, engine")
    await letPass(10)
    expect(await sendAll()).toBe(1)
    await removeMember(ada, looms, grace.viewer.user._id)
    expect(await chat.db.$count(mailOutbox)).toBe(0)
    expect(await sendAll()).toBe(1)
    const [email] = await chat.db.select().from(mailOutbox)
    expect(email?.text).toContain("Grace Hopper, engine")
    expect(email?.text).not.toContain("secret")
  })

  it("is written in the reader's language", async () => {
    await chat.db.update(users).set({ language: "de" }).where(eq(users._id, grace.viewer.user._id))
    await write(ada, "@Grace Hopper")
    await letPass(10)
    await sendAll()
    const subject: unknown = expect.stringContaining("bei Tideline")
    expect(await chat.db.select().from(mailOutbox)).toMatchObject([{ subject }])
    await chat.db.update(users).set({ language: null }).where(eq(users._id, grace.viewer.user._id))
  })

  it("is not queued before ten minutes, or for what was read", async () => {
    const { threadId } = await write(ada, "@Grace Hopper")
    await letPass(9)
    expect(await sendAll()).toBe(0)
    await markRead(grace, { threadId })
    await letPass(10)
    expect(await sendAll()).toBe(0)
    expect(await chat.db.$count(mailOutbox)).toBe(0)
  })

  it("is not sent to somebody who was removed, before or after it was queued", async () => {
    await write(ada, "@Grace Hopper")
    await letPass(10)
    await removeMember(ada, spaceId, grace.viewer.user._id)
    expect(await sendAll()).toBe(0)
    await join(grace, "reader")
    await write(ada, "@Grace Hopper")
    await letPass(10)
    await sendAll()
    expect(await chat.db.$count(mailOutbox)).toBe(1)
    await removeMember(ada, spaceId, grace.viewer.user._id)
    expect(await chat.db.$count(mailOutbox)).toBe(0)
  })

  it("waits while the conversation is in the trash, and is dropped when it gets there", async () => {
    const { threadId } = await write(ada, "@Grace Hopper")
    await trashThread(ada, threadId)
    await letPass(10)
    expect(await sendAll()).toBe(0)
    await restoreThread(ada, threadId)
    expect(await sendAll()).toBe(1)
    await trashThread(ada, threadId)
    expect(await chat.db.$count(mailOutbox)).toBe(0)
  })

  it("stays in the outbox while one of its messages is there to be read", async () => {
    const { threadId } = await write(ada, "@Grace Hopper, one")
    const second = await write(ada, "@Grace Hopper, two", { threadId })
    await letPass(10)
    await sendAll()
    await write(ada, "Nobody", { threadId, replaces: second.messageId })
    expect(await chat.db.$count(mailOutbox)).toBe(1)
  })
})

describe("the settings", () => {
  it("leave out the list, the email, or both", async () => {
    await saveNotificationSettings(grace, { inApp: false, byEmail: true })
    const { threadId } = await write(ada, "@Grace Hopper")
    expect(await listNotifications(grace, ALL)).toMatchObject({ notifications: [], unread: 0 })
    await write(ada, "@Grace Hopper", { threadId })
    await letPass(10)
    expect(await sendAll()).toBe(1)

    await saveNotificationSettings(grace, { inApp: true, byEmail: false })
    await write(ada, "@Grace Hopper")
    await letPass(10)
    expect(await unreadOf(grace)).toBe(1)
    expect(await sendAll()).toBe(0)

    await chat.db.delete(notifications)
    await saveNotificationSettings(grace, { inApp: false, byEmail: false })
    await write(ada, "@Grace Hopper")
    expect(await chat.db.$count(notifications)).toBe(0)
  })

  it("switch off an email that is due already", async () => {
    await write(ada, "@Grace Hopper")
    await letPass(10)
    await saveNotificationSettings(grace, { inApp: true, byEmail: false })
    await sendAll()
    expect(await chat.db.$count(mailOutbox)).toBe(0)
  })

  it("opening the conversation is enough to get no email, also without the list", async () => {
    await saveNotificationSettings(grace, { inApp: false, byEmail: true })
    const { threadId } = await write(ada, "@Grace Hopper")
    expect(await markRead(grace, { threadId })).toEqual({ marked: 0 })
    await letPass(10)
    expect(await sendAll()).toBe(0)
  })
})

/** A message whose reply has ended. */
async function write(
  author: ChatScope,
  text: string,
  {
    threadId = crypto.randomUUID(),
    place = spaceId,
    replaces = null,
  }: { threadId?: string; place?: string | null; replaces?: string | null } = {},
) {
  const message = { requestId: crypto.randomUUID(), text, again: false, replaces, createsThread: true }
  const opened = await openTurn(author, threadId, { ...message, spaceId: place ?? undefined }, 60_000)
  if (opened.kind === "waiting") throw new Error("It waits.")
  const ended = { status: "completed" as const, endedAt: Date.now() }
  await chat.db.update(chatTurns).set(ended).where(eq(chatTurns.threadId, threadId))
  return { threadId, messageId: opened.questionId }
}

async function messageOf(id: string) {
  const [message] = await chat.db.select().from(chatMessages).where(eq(chatMessages._id, id))
  return message
}

async function unreadOf(person: ChatScope): Promise<number> {
  return (await listNotifications(person, ALL)).unread
}

/** As if the messages had been written that many minutes earlier. */
async function letPass(minutes: number) {
  const past = sql`${minutes * 60_000}::bigint`
  await chat.db.update(notifications).set({ emailAt: sql`email_at - ${past}` })
  await chat.db.update(mailOutbox).set({ _creationTime: sql`_creation_time - ${past}` })
}

/** Resolves with how many were due. */
async function sendAll(): Promise<number> {
  let sent = 0
  while (await sendNextMention(chat)) sent++
  return sent
}

async function aSpace(...members: [ChatScope, Role][]): Promise<string> {
  const [space] = await chat.db.insert(spaces).values({ name: "Engines", slug: "engines" }).returning()
  if (!space) throw new Error("No space was made.")
  spaceId = space._id
  for (const [person, role] of members) await join(person, role)
  return space._id
}

async function join(person: ChatScope, role: Role) {
  await chat.db.insert(spaceMembers).values({ spaceId, userId: person.viewer.user._id, role })
}

function memberOf(person: ChatScope) {
  return and(eq(spaceMembers.spaceId, spaceId), eq(spaceMembers.userId, person.viewer.user._id))
}
