import { eq } from "drizzle-orm"
import { describe, expect, it } from "vitest"
import { authUser } from "#db/schema/auth.ts"
import { uploads } from "#db/schema/files.ts"
import { operatorActs } from "#db/schema/operator.ts"
import { users } from "#db/schema/users.ts"
import { waitlist } from "#db/schema/waitlist.ts"
import { applyNotice } from "#server/accounts/apply-notice.ts"
import { deleteAccount } from "#server/accounts/delete-account.ts"
import { findOwnRecords } from "#server/accounts/own-records.ts"
import { STOP_TOPIC } from "#server/chat/stop.ts"
import { createThread } from "#server/chat/threads.ts"
import { askInBackground } from "#server/chat/turn.ts"
import type { Identity, IdentityUser } from "#server/ports/identity.ts"
import type { Services } from "#server/scope.ts"
import { findOrCreateUser } from "#server/users/users.ts"
import { shareChatServices } from "../support/chat-services.ts"

const { chat } = await shareChatServices()

describe("deleting an account", () => {
  it("ends a reply that is being generated, in whichever process", async () => {
    const scope = await chat.scopeOf("ada")
    const thread = await createThread(scope, { title: "Long" })
    const asked = await askInBackground(scope, thread._id, { requestId: "q", text: "/slow", again: false })
    expect(scope.turns.has(asked.answerId)).toBe(true)

    const announced: string[][] = []
    const announce: Services["announce"] = async (_db, ...said) => void announced.push(said)
    await deleteAccount({ ...deleting(scope.viewer.user), announce }, scope.viewer.user)
    expect(scope.turns.has(asked.answerId)).toBe(false)
    expect(announced).toEqual([[STOP_TOPIC, asked.answerId]])
  })

  it("leaves no record behind that a page created halfway through", async () => {
    const { viewer } = await chat.scopeOf("grace")
    const scope = deleting(viewer.user)
    const remove = scope.identity.deleteUser
    scope.identity.deleteUser = async (id) => {
      await findOrCreateUser(scope, viewer.session)
      await remove(id)
    }
    await deleteAccount(scope, viewer.user)
    expect(await chat.db.select().from(users).where(eq(users.clerkId, viewer.user.clerkId))).toEqual([])
  })

  it("leaves nothing that a late notice about the account brings back", async () => {
    const { viewer } = await chat.scopeOf("hedy")
    const scope = deleting(viewer.user)
    const { getUser } = scope.identity
    const identity: Identity = {
      ...scope.identity,
      async getUser(id, options) {
        const person = await getUser(id, options)
        await deleteAccount(scope, viewer.user)
        return person
      },
    }
    await applyNotice({ ...scope, identity }, { kind: "changed", userId: viewer.user.clerkId })
    expect(await chat.db.select().from(users).where(eq(users.clerkId, viewer.user.clerkId))).toEqual([])
  })

  it("leaves what was sent to an address that its holder never confirmed, and does not export it", async () => {
    const { db } = chat
    const { viewer } = await chat.scopeOf("eve")
    const { email } = viewer.user
    await db.insert(waitlist).values({ email })
    const scope = deleting({ ...viewer.user, emailVerified: false })
    const records = await findOwnRecords({ ...scope, viewer })
    for await (const place of records["waitlist"] as AsyncIterable<unknown>)
      expect.fail(`It exports ${JSON.stringify(place)}.`)
    await deleteAccount(scope, viewer.user)
    expect(await db.$count(waitlist, eq(waitlist.email, email))).toBe(1)
  })

  it("is not about what another operator did under the address, which the archive leaves out", async () => {
    const { db } = chat
    const { viewer } = await chat.scopeOf("ruth")
    const act = { act: "sign-out", operatorId: "another", operatorEmail: viewer.user.email } as const
    await db.insert(operatorActs).values(act)
    const records = await findOwnRecords({ ...deleting(viewer.user), viewer })
    for await (const found of records["operatorActs"] as AsyncIterable<unknown>)
      expect.fail(`It exports ${JSON.stringify(found)}.`)
  })

  it("shows nothing to connections opened while it runs", async () => {
    const { viewer } = await chat.scopeOf("mary")
    const scope = deleting(viewer.user)
    await deleteAccount(scope, viewer.user)
    expect(scope.happened).toEqual(["deleted at the provider", "connections ended"])
  })

  it("takes the name from an unfinished upload whose bytes cannot be removed now", async () => {
    const { db } = chat
    const { viewer } = await chat.scopeOf("ida")
    const [upload] = await db
      .insert(uploads)
      .values({
        userId: viewer.user._id,
        key: crypto.randomUUID(),
        reserved: 1,
        fileName: "diagnosis.pdf",
        expiresAt: Date.now() + 60_000,
      })
      .returning()
    const isTheUpload = eq(uploads._id, upload?._id ?? "")
    const scope = deleting(viewer.user)
    scope.blobs = { ...scope.blobs, remove: () => Promise.reject(new Error("The store is away.")) }
    await deleteAccount(scope, viewer.user)
    const left = await db.select({ fileName: uploads.fileName }).from(uploads).where(isTheUpload)
    expect(left).toEqual([{ fileName: null }])
  })

  it("leaves the account at the provider until the records are gone", async () => {
    const { db } = chat
    const { viewer } = await chat.scopeOf("emmy")
    const { clerkId, email } = viewer.user
    await db.insert(authUser).values({ id: clerkId, name: "Emmy", email, emailVerified: true })
    const scope = deleting(viewer.user)
    scope.identity.deleteUser = () => Promise.reject(new Error("away"))
    await expect(deleteAccount(scope, viewer.user)).rejects.toThrow("away")
    expect(await db.$count(authUser, eq(authUser.id, clerkId))).toBe(1)
  })

  it("closes the connections to deleted data even if the provider fails", async () => {
    const { viewer } = await chat.scopeOf("joan")
    const scope = deleting(viewer.user)
    scope.identity.deleteUser = () => Promise.reject(new Error("away"))
    await expect(deleteAccount(scope, viewer.user)).rejects.toThrow("away")
    expect(scope.happened).toEqual(["connections ended"])
  })
})

/** A provider that knows one person, and a realtime layer that records who was disconnected. */
function deleting({
  clerkId,
  email,
  emailVerified = true,
}: {
  clerkId: string
  email: string
  emailVerified?: boolean
}) {
  const happened: string[] = []
  const person: IdentityUser = {
    id: clerkId,
    email,
    emailVerified,
    holderConfirmed: true,
    name: null,
    imageUrl: null,
    plan: "free",
  }
  let known: IdentityUser | null = person
  const identity = {
    getUser: async () => known,
    deleteUser: async () => {
      known = null
      happened.push("deleted at the provider")
    },
  } satisfies Partial<Identity> as unknown as Identity
  const live = {
    revokeUser: async () => void happened.push("connections ended"),
  } satisfies Partial<Services["live"]> as unknown as Services["live"]
  return { ...chat, identity, live, happened }
}
