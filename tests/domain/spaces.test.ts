import { eq } from "drizzle-orm"
import { beforeEach, describe, expect, it } from "vitest"
import { chatMessages, chatThreads } from "#db/schema/chat.ts"
import { mailOutbox } from "#db/schema/mail.ts"
import { spaceInvitations, spaceMembers, spaces } from "#db/schema/spaces.ts"
import { users, type User } from "#db/schema/users.ts"
import { liveThreads } from "#server/chat/live.ts"
import { createThread } from "#server/chat/threads.ts"
import { readConfig } from "#server/config.ts"
import { deleteOldRows } from "#server/old-rows.ts"
import { readList } from "#server/operations/list.ts"
import { listSpaces as listForOperators } from "#server/operator/spaces.ts"
import type { Identity } from "#server/ports/identity.ts"
import type { Scope } from "#server/scope.ts"
import { isInPlace, mayEdit, mayRead, requireMember } from "#server/spaces/access.ts"
import type { SpaceSummary } from "#server/spaces/contract.ts"
import {
  acceptByLink,
  acceptReceived,
  declineInvitation,
  findByLink,
  inviteToSpace,
  revokeInvitation,
} from "#server/spaces/invitations.ts"
import { joinSpaceForEveryone } from "#server/spaces/for-everyone.ts"
import { liveTrashedSpaces } from "#server/spaces/live.ts"
import { removeMember, setRole, transferSpace } from "#server/spaces/members.ts"
import { purgeSpaces } from "#server/spaces/purge.ts"
import {
  changeSpace,
  createSpace,
  findMembership,
  findSpace,
  leaveSpace,
  listSpaces,
  restoreSpace,
  trashSpace,
} from "#server/spaces/spaces.ts"
import { listThreads } from "../support/chat-lists.ts"
import { callOperation } from "../support/call-operation.ts"
import { createTestDatabase } from "../support/postgres.ts"
import { withResource } from "../support/with-resource.ts"

type Person = Scope<"db" | "config" | "identity" | "viewer">

/** Milliseconds. */
const DAY = 24 * 60 * 60 * 1000

const database = withResource(createTestDatabase)
let people: Record<"owner" | "editor" | "reader" | "removed" | "outsider", Person>
let space: SpaceSummary

beforeEach(async () => {
  await database.db.delete(mailOutbox)
  await database.db.delete(spaces)
  await database.db.delete(users)
  people = {
    owner: await person("olga"),
    editor: await person("edith"),
    reader: await person("ron"),
    removed: await person("rolf"),
    outsider: await person("stella"),
  }
  space = await createSpace(people.owner, { name: "Café Central" })
  for (const [who, role] of [
    ["editor", "editor"],
    ["reader", "reader"],
    ["removed", "editor"],
  ] as const) {
    const { url } = await inviteToSpace(people.owner, space._id, { role })
    await acceptByLink(people[who], tokenOf(url))
  }
  await removeMember(people.owner, space._id, idOf(people.removed))
})

describe("a space", () => {
  it("is not found by a text that is no id", async () => {
    await expect(requireMember(people.owner, "engines")).rejects.toMatchObject({ status: 404 })
  })

  it("has its creator as owner, and an address made from its name that no other space has", async () => {
    expect(space).toMatchObject({ name: "Café Central", slug: "cafe-central", role: "owner" })
    expect(await createSpace(people.outsider, { name: "Cafe central!" })).toMatchObject({
      slug: "cafe-central-2",
    })
    expect(await createSpace(people.outsider, { name: "东京" })).toMatchObject({ slug: "space" })
  })

  it("is created once for each of many people who choose one name at the same moment", async () => {
    const made = await Promise.all(
      Array.from({ length: 8 }, () => createSpace(people.outsider, { name: "Same" })),
    )
    expect(new Set(made.map(({ slug }) => slug)).size).toBe(8)
  })

  it("is refused to somebody who owns as many as the operator allows, those in the trash too", async () => {
    const limited = { ...people.owner, config: { ...people.owner.config, spacesPerPerson: 2 } }
    const second = await createSpace(limited, { name: "Second" })
    await trashSpace(limited, second._id)
    await expect(createSpace(limited, { name: "Third" })).rejects.toMatchObject({
      status: 409,
      reason: "too-many-spaces",
    })
  })

  it("is one more, not several, for somebody who asks for many at one moment", async () => {
    const limited = { ...people.owner, config: { ...people.owner.config, spacesPerPerson: 2 } }
    const asked = await Promise.allSettled(
      Array.from({ length: 5 }, (_, n) => createSpace(limited, { name: `Space ${n}` })),
    )
    expect(asked.filter(({ status }) => status === "fulfilled")).toHaveLength(1)
  })

  it("gets the address of the space for everyone only before the operator chooses it", async () => {
    const operators = { slug: "team", role: "editor" } as const
    const config = { ...people.owner.config, spaceForEveryone: operators }
    const outsider = { ...people.outsider, config }
    const taken = await createSpace(outsider, { name: "Team" })
    expect(taken.slug).toBe("team-2")
    const reserved = { status: 409, reason: "space-slug-reserved" }
    await expect(changeSpace(outsider, taken._id, { slug: "team" })).rejects.toMatchObject(reserved)
    await changeSpace(people.owner, space._id, { slug: "team" })
    const owner = { ...people.owner, config }
    await changeSpace(owner, space._id, { name: "The team", slug: "team" })
    await expect(changeSpace(owner, space._id, { slug: "other" })).rejects.toMatchObject(reserved)
  })

  it("is not given to a member who owns as many as the operator allows", async () => {
    await createSpace(people.editor, { name: "Edith's" })
    const limited = { ...people.owner, config: { ...people.owner.config, spacesPerPerson: 1 } }
    await expect(transferSpace(limited, space._id, idOf(people.editor))).rejects.toMatchObject({
      status: 409,
      reason: "member-owns-too-many",
    })
    expect(await rolesIn(space)).toMatchObject({ olga: "owner", edith: "editor" })
  })

  it("that is for everyone is joined by every new account, once it exists, as long as it is not in the trash", async () => {
    const { config } = people.owner
    const role = "reader" as const
    const joinAs = (slug: string, { viewer }: Person) =>
      joinSpaceForEveryone(
        { ...people.owner, config: { ...config, spaceForEveryone: { slug, role } } },
        viewer.user._id,
      )
    await joinAs("none-such", people.outsider)
    expect(await listSpaces(people.outsider)).toEqual([])
    await joinAs("cafe-central", people.outsider)
    expect(await listSpaces(people.outsider)).toMatchObject([{ slug: "cafe-central", role: "reader" }])
    await joinAs("cafe-central", people.editor)
    expect(await listSpaces(people.editor)).toMatchObject([{ role: "editor" }])
    await trashSpace(people.owner, space._id)
    await joinAs("cafe-central", people.removed)
    expect(await database.db.$count(spaceMembers, eq(spaceMembers.userId, idOf(people.removed)))).toBe(0)
  })

  it("is listed for operators with its owner, members and bytes, and found by name, slug or owner", async () => {
    await createSpace(people.outsider, { name: "North" })
    expect(await listForOperators(database, { q: "", limit: 10 })).toMatchObject([
      { name: "North", ownerEmail: "stella@example.org", members: 1, used: 0 },
      { name: "Café Central", ownerEmail: "olga@example.org", members: 3, used: 0, trashed: false },
    ])
    for (const [q, names] of [
      ["CAFÉ", ["Café Central"]],
      ["cafe-c", ["Café Central"]],
      ["stella", ["North"]],
      ["edith", []],
      ["%", []],
    ] as const)
      expect((await listForOperators(database, { q, limit: 10 })).map(({ name }) => name)).toEqual(names)
    const [newest] = await listForOperators(database, { q: "", limit: 1 })
    const older = await listForOperators(database, { q: "", before: newest?._id, limit: 10 })
    expect(older.map(({ name }) => name)).toEqual(["Café Central"])
  })

  it("shows its new name and address to every member", async () => {
    await changeSpace(people.owner, space._id, { name: "North", slug: "north" })
    expect(await findMembership(people.reader, "north")).toMatchObject({ spaceName: "North", role: "reader" })
    await expect(findMembership(people.reader, "cafe-central")).rejects.toMatchObject({ status: 404 })
  })

  it("cannot take another's address, and keeps its own", async () => {
    await createSpace(people.outsider, { name: "Taken" })
    await expect(changeSpace(people.owner, space._id, { slug: "taken" })).rejects.toMatchObject({
      status: 409,
    })
    await changeSpace(people.owner, space._id, { slug: "cafe-central" })
  })

  it("shows what members' profiles say, also after they change them", async () => {
    await database.db
      .update(users)
      .set({ name: "Edith Clarke" })
      .where(eq(users._id, idOf(people.editor)))
    expect(await listMembers(people.reader, space._id)).toMatchObject([
      { memberEmail: "olga@example.org", role: "owner" },
      { memberName: "Edith Clarke", memberEmail: "edith@example.org", role: "editor" },
      { memberEmail: "ron@example.org", role: "reader" },
    ])
  })

  it("is closed for everybody while it is in the trash, and comes back with its members", async () => {
    const { url } = await inviteToSpace(people.owner, space._id, { role: "reader" })
    await trashSpace(people.owner, space._id)
    for (const who of [people.owner, people.editor, people.reader]) {
      expect(await listSpaces(who)).toEqual([])
      await expect(findSpace(who, space._id)).rejects.toMatchObject({ status: 404 })
    }
    await expect(acceptByLink(people.outsider, tokenOf(url))).rejects.toMatchObject({ status: 404 })
    await expect(findByLink(people.outsider, tokenOf(url))).rejects.toMatchObject({ status: 404 })
    expect(await trashOf(people.owner)).toMatchObject([{ spaceId: space._id }])
    expect(await trashOf(people.editor)).toEqual([])
    await expect(restoreSpace(people.editor, space._id)).rejects.toMatchObject({ status: 404 })
    await restoreSpace(people.owner, space._id)
    expect(await listSpaces(people.reader)).toMatchObject([{ _id: space._id, role: "reader" }])
  })

  it("is deleted for good 30 days after its owner deleted it, with everything in it", async () => {
    const { db } = database
    const kept = await createSpace(people.owner, { name: "Kept" })
    const [inside, outside] = [space._id, kept._id]
    for (const spaceId of [inside, outside]) await createThread(people.owner, { title: "T", spaceId })
    await trashSpace(people.owner, inside)
    await purgeSpaces({ db }, Date.now() + 29 * DAY)
    expect(await trashOf(people.owner)).toHaveLength(1)
    await purgeSpaces({ db }, Date.now() + 31 * DAY)
    expect(await trashOf(people.owner)).toEqual([])
    expect(await db.$count(chatThreads, eq(chatThreads.spaceId, inside))).toBe(0)
    expect(await db.$count(chatThreads, eq(chatThreads.spaceId, outside))).toBe(1)
  })

  it("has one owner before and after a transfer", async () => {
    await transferSpace(people.owner, space._id, idOf(people.reader))
    expect(await rolesIn(space)).toEqual({ olga: "editor", edith: "editor", ron: "owner" })
    await leaveSpace(people.owner, space._id)
    expect(await rolesIn(space)).toEqual({ edith: "editor", ron: "owner" })
  })
})

describe("the owner", () => {
  it("cannot leave, be removed, or get another role", async () => {
    const own = idOf(people.owner)
    await expect(leaveSpace(people.owner, space._id)).rejects.toMatchObject({ status: 409 })
    await expect(removeMember(people.owner, space._id, own)).rejects.toMatchObject({ status: 409 })
    await expect(setRole(people.owner, space._id, own, { role: "reader" })).rejects.toMatchObject({
      status: 409,
    })
    await expect(removeMember(people.owner, space._id, idOf(people.outsider))).rejects.toMatchObject({
      status: 404,
    })
  })
})

describe("an invitation", () => {
  it("by link lets in as many people as it says, each once", async () => {
    const { url } = await inviteToSpace(people.owner, space._id, { role: "editor", maxUses: 2 })
    const guests = await Promise.all(Array.from({ length: 5 }, (_, index) => person(`guest${index}`)))
    const outcomes = await Promise.allSettled(guests.map((guest) => acceptByLink(guest, tokenOf(url))))
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(2)
    expect(Object.values(await rolesIn(space))).toHaveLength(5)
  })

  it("by link is not used up by somebody who is a member already, and does not change their role", async () => {
    const { url } = await inviteToSpace(people.owner, space._id, { role: "editor", maxUses: 1 })
    await acceptByLink(people.reader, tokenOf(url))
    expect(await rolesIn(space)).toMatchObject({ ron: "reader" })
    expect(await acceptByLink(people.outsider, tokenOf(url))).toMatchObject({ role: "editor" })
  })

  it("that has expired or was revoked lets nobody in, and does not say which", async () => {
    const soon = await inviteToSpace(people.owner, space._id, { role: "editor", expiresAt: Date.now() + 1 })
    await expect.poll(() => Date.now()).toBeGreaterThan(soon.invitation.expiresAt)
    const revoked = await inviteToSpace(people.owner, space._id, { role: "editor" })
    await expect(revokeInvitation(people.editor, revoked.invitation._id)).rejects.toMatchObject({
      status: 404,
    })
    await revokeInvitation(people.owner, revoked.invitation._id)
    for (const url of [soon.url, revoked.url, "/join/nothing"]) {
      await expect(acceptByLink(people.outsider, tokenOf(url))).rejects.toMatchObject({
        reason: "invitation-dead",
      })
    }
    const { db } = database
    await deleteOldRows({ db }, spaceInvitations)
    const open = await inviteToSpace(people.owner, space._id, { role: "editor" })
    for (const [{ invitation }, left] of [
      [soon, 0],
      [open, 1],
    ] as const)
      expect(await db.$count(spaceInvitations, eq(spaceInvitations._id, invitation._id))).toBe(left)
  })

  it("by email is sent for people who have confirmed their own address only, and a link for everybody", async () => {
    const unconfirmed = { ...people.owner, identity: identityOf(false) }
    const email = "victim@example.org"
    await expect(inviteToSpace(unconfirmed, space._id, { role: "reader", email })).rejects.toMatchObject({
      status: 403,
      reason: "inviter-unconfirmed",
    })
    expect(await listInvitations(people.owner, space._id)).not.toContainEqual(
      expect.objectContaining({ email }),
    )
    expect(await inviteToSpace(unconfirmed, space._id, { role: "reader" })).toHaveProperty("url")
    expect(await inviteToSpace(people.owner, space._id, { role: "reader", email })).toHaveProperty("url")
  })

  it("by email is accepted in place by the person with that address, once it is confirmed", async () => {
    const { invitation } = await inviteToSpace(people.owner, space._id, {
      role: "editor",
      email: "Stella@Example.org",
    })
    await expect(acceptReceived(people.removed, invitation._id)).rejects.toMatchObject({ status: 404 })
    const unconfirmed = { ...people.outsider, identity: identityOf(false) }
    await expect(acceptReceived(unconfirmed, invitation._id)).rejects.toMatchObject({ status: 403 })
    expect(await acceptReceived(people.outsider, invitation._id)).toMatchObject({ role: "editor" })
    await expect(acceptReceived(people.outsider, invitation._id)).rejects.toMatchObject({ status: 404 })
    expect(await listInvitations(people.owner, space._id)).not.toContainEqual(
      expect.objectContaining({ email: "stella@example.org" }),
    )
  })

  it("by email to a member is refused, and a second one replaces the first", async () => {
    await expect(
      inviteToSpace(people.owner, space._id, { role: "reader", email: "EDITH@example.org" }),
    ).rejects.toMatchObject({ status: 409 })
    const email = "new@example.org"
    const first = await inviteToSpace(people.owner, space._id, { role: "reader", email })
    const second = await inviteToSpace(people.owner, space._id, { role: "editor", email })
    await expect(findByLink(people.outsider, tokenOf(first.url))).rejects.toMatchObject({ status: 404 })
    expect(await findByLink(people.outsider, tokenOf(second.url))).toMatchObject({
      spaceName: "Café Central",
      role: "editor",
    })
  })

  it("lets nobody in again whose access was taken away since", async () => {
    const { owner, editor, outsider, removed } = people
    const link = await inviteToSpace(owner, space._id, { role: "editor" })
    const byEmail = await inviteToSpace(owner, space._id, { role: "editor", email: "stella@example.org" })
    await acceptByLink(outsider, tokenOf(link.url))
    await removeMember(owner, space._id, idOf(outsider))
    await expect(acceptReceived(outsider, byEmail.invitation._id)).rejects.toMatchObject({ status: 404 })
    await setRole(owner, space._id, idOf(editor), { role: "reader" })
    await leaveSpace(editor, space._id)
    for (const who of [outsider, editor])
      await expect(acceptByLink(who, tokenOf(link.url))).rejects.toMatchObject({
        status: 403,
        reason: "invitation-outlived",
      })
    expect(await acceptByLink(removed, tokenOf(link.url))).toMatchObject({ role: "editor" })
    const later = await inviteToSpace(owner, space._id, { role: "editor" })
    expect(await acceptByLink(outsider, tokenOf(later.url))).toMatchObject({ role: "editor" })
  })

  it("by email is not used up by a member who opens it", async () => {
    const { url } = await inviteToSpace(people.owner, space._id, {
      role: "reader",
      email: "stella@example.org",
    })
    await acceptByLink(people.editor, tokenOf(url))
    expect(await acceptByLink(people.outsider, tokenOf(url))).toMatchObject({ role: "reader" })
  })

  it("is refused once its sender had five emails with working links sent there, and the last of them works", async () => {
    const invite = () =>
      inviteToSpace(people.owner, space._id, { role: "reader", email: "stella@example.org" })
    let last = await invite()
    for (let sent = 1; sent < 5; sent++) last = await invite()
    await expect(invite()).rejects.toMatchObject({ status: 409, reason: "invitation-emails-open" })
    expect(await acceptByLink(people.outsider, tokenOf(last.url))).toMatchObject({ role: "reader" })
  })

  it("is neither refused nor hidden for what others sent to the address", async () => {
    const email = "stella@example.org"
    for (let number = 0; number < 4; number++) {
      const other = await person(`rival ${number}`)
      const theirs = await createSpace(other, { name: "Rivals" })
      for (let sent = 0; sent < 5; sent++)
        expect(await inviteToSpace(other, theirs._id, { role: "reader", email })).toHaveProperty(
          "emailed",
          true,
        )
    }
    const made = await inviteToSpace(people.owner, space._id, { role: "editor", email })
    expect(made.emailed).toBe(false)
    expect(await listInvitations(people.owner, space._id)).toContainEqual(expect.objectContaining({ email }))
    expect(await acceptReceived(people.outsider, made.invitation._id)).toMatchObject({ role: "editor" })
  })

  it("is accepted by many while the space is renamed and somebody is invited again", async () => {
    const { url } = await inviteToSpace(people.owner, space._id, { role: "reader" })
    const joining = await Promise.all(Array.from({ length: 12 }, (_, n) => person(`guest ${n}`)))
    await Promise.all([
      ...joining.map((who) => acceptByLink(who, tokenOf(url))),
      ...joining.map((_, n) => changeSpace(people.owner, space._id, { name: `Name ${n}` })),
    ])
    expect(await listMembers(people.owner, space._id)).toHaveLength(3 + joining.length)
  })

  it("is declined by the person who was invited, once their address is confirmed, and by nobody else", async () => {
    const email = "stella@example.org"
    const { invitation } = await inviteToSpace(people.owner, space._id, { role: "reader", email })
    await expect(declineInvitation(people.editor, invitation._id)).rejects.toMatchObject({ status: 404 })
    const unconfirmed = { ...people.outsider, identity: identityOf(false) }
    await expect(declineInvitation(unconfirmed, invitation._id)).rejects.toMatchObject({ status: 403 })
    await declineInvitation(people.outsider, invitation._id)
    await expect(acceptReceived(people.outsider, invitation._id)).rejects.toMatchObject({ status: 404 })
  })
})

describe("a row in a space", () => {
  it("is read by every member and changed by those who may edit, and personal rows stay their owner's", async () => {
    const { db } = database
    const shared = await createThread(people.editor, { title: "Shared", spaceId: space._id })
    const own = await createThread(people.editor, { title: "Personal" })
    const readable = async (who: Person) =>
      (await db.select().from(chatThreads).where(mayRead(who, chatThreads))).map(({ title }) => title)
    const editable = async (who: Person) =>
      (
        await db.update(chatThreads).set({ lastMessageAt: 1 }).where(mayEdit(who, chatThreads)).returning()
      ).map(({ title }) => title)
    expect((await readable(people.editor)).toSorted()).toEqual(["Personal", "Shared"])
    expect(await readable(people.reader)).toEqual(["Shared"])
    expect(await readable(people.removed)).toEqual([])
    expect((await editable(people.editor)).toSorted()).toEqual(["Personal", "Shared"])
    expect(await editable(people.owner)).toEqual(["Shared"])
    expect(await editable(people.reader)).toEqual([])
    const inPlace = (who: Person, spaceId?: string) =>
      db.$count(chatThreads, isInPlace(who, chatThreads, spaceId))
    expect(await inPlace(people.editor, space._id)).toBe(1)
    expect(await inPlace(people.outsider, space._id)).toBe(0)
    expect(await inPlace(people.editor)).toBe(1)
    expect((await listThreads(people.editor)).threads).toMatchObject([{ _id: own._id }])
    await removeMember(people.owner, space._id, idOf(people.editor))
    expect(await readable(people.editor)).toEqual(["Personal"])
    expect(shared.title).toBe("Shared")
  })

  it("is not changed by somebody whose removal is being committed", async () => {
    const { db } = database
    await createThread(people.owner, { title: "Shared", spaceId: space._id })
    const removed = Promise.withResolvers<void>()
    const goOn = Promise.withResolvers<void>()
    const removing = db.transaction(async (tx) => {
      await removeMember({ ...people.owner, db: tx }, space._id, idOf(people.editor))
      removed.resolve()
      await goOn.promise
    })
    await removed.promise
    const writing = db
      .update(chatThreads)
      .set({ title: "Overwritten" })
      .where(mayEdit(people.editor, chatThreads))
      .returning()
      .execute()
    // Long enough for the statement to run into the lock; without one it would be over.
    await expect
      .poll(async () => (await database.db.execute(WAITING)).length, { interval: 5 })
      .toBeGreaterThan(0)
    goOn.resolve()
    await removing
    expect(await writing).toEqual([])
  })

  it("is not listed for somebody who was removed while the list was read", async () => {
    await createThread(people.owner, { title: "Secret", spaceId: space._id })
    const asked = { spaceId: space._id }
    const read = () => readList(people.reader, liveThreads, asked, { missing: "space" })
    expect((await read()).rows).toMatchObject([{ title: "Secret" }])
    let reading: Promise<unknown> | undefined
    await database.db.transaction(async (tx) => {
      await tx.execute("lock table chat_threads in access exclusive mode")
      reading = read().catch((error: unknown) => error)
      await expect
        .poll(async () => (await database.db.execute(WAITING)).length, { interval: 5 })
        .toBeGreaterThan(0)
      await tx.delete(spaceMembers).where(eq(spaceMembers.userId, idOf(people.reader)))
    })
    expect(await reading).toMatchObject({ status: 404, reason: "no-such-space" })
  })

  it("is not read for somebody who is no member, whatever else is wrong with the request", async () => {
    const asked = { spaceId: space._id }
    await database.db.transaction(async (tx) => {
      await tx.execute("lock table chat_threads in access exclusive mode")
      await expect(
        readList(people.outsider, liveThreads, asked, { cursor: "nonsense", missing: "space" }),
      ).rejects.toMatchObject({ status: 404, reason: "no-such-space" })
    })
  })

  it("takes its conversation's space, and follows it when it is moved", async () => {
    const { db } = database
    const thread = await createThread(people.editor, { title: "Moves" })
    const message = { userId: idOf(people.editor), threadId: thread._id, role: "user" as const }
    const place = async () =>
      (await db.select().from(chatMessages).where(eq(chatMessages.threadId, thread._id))).map(
        ({ spaceKey }) => spaceKey,
      )
    const move = (spaceId: string | null) =>
      db.update(chatThreads).set({ spaceId }).where(eq(chatThreads._id, thread._id))
    await db.insert(chatMessages).values({ ...message, content: "before" })
    await move(space._id)
    await db.insert(chatMessages).values({ ...message, content: "after" })
    expect(await place()).toEqual([space._id, space._id])
    await move(null)
    expect(new Set(await place())).toEqual(new Set(["00000000-0000-0000-0000-000000000000"]))
  })
})

const WAITING =
  "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"

async function listMembers(scope: Person, spaceId: string) {
  const { members } = (await callOperation("spaces.members", scope, { spaceId })) as { members: unknown[] }
  return members
}

async function listInvitations(scope: Person, spaceId: string) {
  const listed = await callOperation("spaces.invitations", scope, { spaceId })
  return (listed as { invitations: unknown[] }).invitations
}

function tokenOf(url: string): string {
  return url.split("/").at(-1) ?? ""
}

function idOf({ viewer }: Person): string {
  return viewer.user._id
}

function identityOf(emailVerified: boolean): Identity {
  return { getUser: async () => ({ emailVerified }) } as unknown as Identity
}

async function person(name: string): Promise<Person> {
  const { db } = database
  const [user] = await db
    .insert(users)
    .values({ clerkId: `user_${name}`, email: `${name}@example.org` })
    .returning()
  const viewer = {
    user: user as User,
    session: { userId: `user_${name}`, sessionId: null, plan: "free", via: "cookie" } as const,
  }
  return {
    db,
    config: readConfig({ AUTH_SECRET: "x".repeat(32), SPACES: "on" }),
    identity: identityOf(true),
    viewer,
  }
}

async function rolesIn({ _id }: SpaceSummary): Promise<Record<string, string>> {
  const members = await database.db.select().from(spaceMembers).where(eq(spaceMembers.spaceId, _id))
  return Object.fromEntries(members.map(({ memberEmail, role }) => [memberEmail.split("@")[0], role]))
}

async function trashOf(scope: Person) {
  const { rows } = await readList(scope, liveTrashedSpaces, {}, { missing: "space" })
  return rows
}
