import { eq, sql } from "drizzle-orm"
import { describe, expect, it } from "vitest"
import { users } from "#db/schema/users.ts"
import {
  isOutOfDate,
  onboardingOf,
  type CreateOrUpdateUser,
  type OnboardingStep,
} from "#server/users/contract.ts"
import {
  completeOnboarding,
  finishOnboardingStep,
  getOnboardingStatus,
  reopenOnboardingStep,
} from "#server/users/onboarding.ts"
import {
  createOrUpdateUser,
  findOrCreateUser,
  getUserByClerkId,
  saveProfile,
  setUserPlan,
  writeUser,
} from "#server/users/users.ts"
import { findLanguage, saveLanguage } from "#server/users/language.ts"
import type { Identity, IdentityUser } from "#server/ports/identity.ts"
import type { Session } from "#server/ports/session.ts"
import { listOutbox } from "#server/mail/outbox.ts"
import { createTestDatabase } from "../support/postgres.ts"
import { withResource } from "../support/with-resource.ts"

const database = withResource(createTestDatabase)

describe("the record of a signed-in person", () => {
  it("is created from the provider's values if it is missing", async () => {
    const ada = person({ name: "Ada Lovelace", plan: "pro", imageUrl: "https://example.org/ada.png" })
    const made = await findOrCreateUser(scopeFor(ada), sessionOf(ada))
    expect(made).toMatchObject({
      clerkId: ada.id,
      email: ada.email,
      name: "Ada Lovelace",
      imageUrl: "https://example.org/ada.png",
      plan: "pro",
      onboardingCompleted: null,
      onboardingStep: null,
    })
    expect(made._id).toMatch(/^[0-9a-f-]{36}$/)
    expect(Math.abs(made._creationTime - Date.now())).toBeLessThan(60_000)
  })

  it("is created once by any number of concurrent requests", async () => {
    const ada = person()
    const made = await Promise.all(
      Array.from({ length: 20 }, () => findOrCreateUser(scopeFor(ada), sessionOf(ada))),
    )
    expect(new Set(made.map((user) => user._id)).size).toBe(1)
    expect(await rowsOf(ada)).toHaveLength(1)
  })

  it("is found again without asking the provider", async () => {
    const ada = person()
    const scope = scopeFor(ada)
    await findOrCreateUser(scope, sessionOf(ada))
    await findOrCreateUser(scope, sessionOf(ada))
    expect(scope.asked).toEqual([{ id: ada.id, fresh: true }])
  })

  it("is not created for someone whom the provider does not know", async () => {
    const gone = person()
    await expect(findOrCreateUser(scopeFor(person()), sessionOf(gone))).rejects.toMatchObject({ status: 403 })
    expect(await rowsOf(gone)).toHaveLength(0)
  })

  it("has an empty email address if the provider has none", async () => {
    const ada = person({ email: null })
    expect(await findOrCreateUser(scopeFor(ada), sessionOf(ada))).toMatchObject({ email: "" })
  })
})

describe("the sync", () => {
  it("creates a missing record", async () => {
    const ada = person({ name: "Ada" })
    const scope = await signedIn(ada)
    await database.db.delete(users).where(eq(users.clerkId, ada.id))
    expect(await createOrUpdateUser(scope, valuesOf(ada))).toMatchObject({ clerkId: ada.id, name: "Ada" })
  })

  it.each([
    ["email", { email: "new@example.org" }],
    ["name", { name: "Ada King" }],
    ["imageUrl", { imageUrl: "https://example.org/new.png" }],
    ["plan", { plan: "pro" as const }],
  ])("writes a new %s", async (_field, change) => {
    const ada = person({ name: "Ada" })
    const scope = await signedIn(ada)
    Object.assign(ada, change)
    expect(isOutOfDate(scope.viewer.user, valuesOf(ada))).toBe(true)
    const written = await createOrUpdateUser(scope, valuesOf(ada))
    expect(written).toMatchObject(change)
    expect(isOutOfDate(written, valuesOf(ada))).toBe(false)
  })

  it("writes a name that only the provider sets, and refuses any other", async () => {
    const ada = person({ name: "x".repeat(150) })
    const scope = await signedIn(ada)
    expect(await createOrUpdateUser(scope, valuesOf(ada))).toMatchObject({ name: ada.name })
    for (const name of ["y".repeat(150), " "])
      await expect(createOrUpdateUser(scope, { ...valuesOf(ada), name })).rejects.toMatchObject({
        status: 400,
      })
  })

  it("removes a name and a picture that the provider no longer has", async () => {
    const ada = person({ name: "Ada", imageUrl: "https://example.org/ada.png" })
    const scope = await signedIn(ada)
    const { clerkId, email, plan } = valuesOf(ada)
    expect(await createOrUpdateUser(scope, { clerkId, email, plan })).toMatchObject({
      name: null,
      imageUrl: null,
    })
  })

  it("writes nothing if nothing differs", async () => {
    const ada = person({ name: "Ada" })
    const scope = await signedIn(ada)
    const before = await versionOf(ada)
    expect(await createOrUpdateUser(scope, valuesOf(ada))).toEqual(scope.viewer.user)
    expect(await versionOf(ada)).toBe(before)
  })

  it("leaves onboarding and the rest of the record alone", async () => {
    const ada = person({ name: "Ada" })
    const scope = await signedIn(ada, { onboardingStep: "profile" })
    ada.plan = "pro"
    const written = await createOrUpdateUser(scope, valuesOf(ada))
    expect(written).toEqual({ ...scope.viewer.user, plan: "pro" })
  })

  it("is refused for another person's record", async () => {
    const ada = person()
    const grace = person({ name: "Grace" })
    const scope = scopeFor(ada, grace)
    await findOrCreateUser(scope, sessionOf(grace))
    const asAda = {
      ...scope,
      viewer: { session: sessionOf(ada), user: await findOrCreateUser(scope, sessionOf(ada)) },
    }
    const attempt = createOrUpdateUser(asAda, { ...valuesOf(grace), name: "Mallory" })
    await expect(attempt).rejects.toMatchObject({ status: 403 })
    expect(await rowsOf(grace)).toMatchObject([{ name: "Grace" }])
  })

  it.each([
    ["a plan", { plan: "pro" as const }],
    ["an email", { email: "somebody-else@example.org" }],
  ])("is refused for %s that the provider does not confirm", async (_what, claim) => {
    const ada = person({ name: "Ada" })
    const scope = await signedIn(ada)
    await expect(createOrUpdateUser(scope, { ...valuesOf(ada), ...claim })).rejects.toMatchObject({
      status: 403,
    })
    expect(await rowsOf(ada)).toEqual([scope.viewer.user])
  })

  it("asks the provider itself, not its cache", async () => {
    const ada = person()
    const scope = await signedIn(ada)
    await createOrUpdateUser(scope, valuesOf(ada))
    expect(scope.asked.at(-1)).toEqual({ id: ada.id, fresh: true })
  })
})

describe("a change of the plan", () => {
  it("is emailed once for each change, there and back", async () => {
    const ada = person({ name: "Ada" })
    const scope = await signedIn(ada)
    for (const plan of ["pro", "free", "pro"] as const) {
      ada.plan = plan
      await createOrUpdateUser(scope, valuesOf(ada))
      await createOrUpdateUser(scope, valuesOf(ada))
    }
    const emails = await lettersTo(ada)
    expect(emails.map(({ kind, cause }) => `${kind}: ${cause.replace(/ in \d+$/, "")}`)).toEqual([
      "plan-changed: free to pro",
      "plan-changed: pro to free",
      "plan-changed: free to pro",
    ])
  })

  it("is emailed once, however many tabs sync it concurrently", async () => {
    const ada = person()
    const scope = await signedIn(ada)
    ada.plan = "pro"
    await Promise.all(Array.from({ length: 10 }, () => createOrUpdateUser(scope, valuesOf(ada))))
    expect(await lettersTo(ada)).toHaveLength(1)
  })

  it("is emailed with the previous plan, which is Free for a record without one", async () => {
    const ada = person({ plan: "pro" })
    const scope = await signedIn(ada)
    await database.db.update(users).set({ plan: null }).where(eq(users.clerkId, ada.id))
    await createOrUpdateUser(scope, valuesOf(ada))
    expect(await lettersTo(ada)).toMatchObject([{ cause: expect.stringMatching(/^free to pro in \d+$/) }])
  })

  it.each([
    ["another name", { name: "Countess of Lovelace" }],
    ["another picture", { imageUrl: "https://example.org/new.png" }],
  ])("is not emailed with %s", async (_what, change) => {
    const ada = person({ plan: "pro" })
    const scope = await signedIn(ada)
    Object.assign(ada, change)
    await createOrUpdateUser(scope, valuesOf(ada))
    expect(await lettersTo(ada)).toEqual([])
  })

  it("is not emailed for the plan that a new record starts with", async () => {
    const ada = person({ plan: "pro" })
    const scope = await signedIn(ada)
    await database.db.delete(users).where(eq(users.clerkId, ada.id))
    await createOrUpdateUser(scope, valuesOf(ada))
    expect(await lettersTo(ada)).toEqual([])
  })

  it("by the operator is emailed too, once", async () => {
    const ada = person()
    const scope = await signedIn(ada)
    expect(await setUserPlan(scope, ada.id, "pro")).toBe(true)
    expect(await setUserPlan(scope, ada.id, "pro")).toBe(false)
    ada.plan = "pro"
    await createOrUpdateUser(scope, valuesOf(ada))
    expect(await lettersTo(ada)).toHaveLength(1)
  })
})

describe("a person's language", () => {
  it("is unknown at first, and then the last one chosen", async () => {
    const ada = person()
    expect(await findLanguage(database, ada.id)).toBeNull()
    await signedIn(ada)
    expect(await findLanguage(database, ada.id)).toBeNull()
    for (const language of ["de", "en"] as const) {
      await saveLanguage(database, ada.id, language)
      expect(await findLanguage(database, ada.id)).toBe(language)
    }
  })

  it("is not rewritten if it is unchanged, and creates no record", async () => {
    const ada = person()
    await saveLanguage(database, ada.id, "de")
    expect(await rowsOf(ada)).toEqual([])
    await signedIn(ada)
    await saveLanguage(database, ada.id, "de")
    const before = await versionOf(ada)
    await saveLanguage(database, ada.id, "de")
    expect(await versionOf(ada)).toBe(before)
  })

  it("is used for the welcome and for emails that no request of theirs causes", async () => {
    const ada = person()
    const scope = await signedIn(ada, { onboardingStep: "first-steps" })
    await saveLanguage(database, ada.id, "de")
    await completeOnboarding(scope)
    await setUserPlan(scope, ada.id, "pro")
    await writeUser(scope, {
      clerkId: ada.id,
      email: ada.email ?? "",
      name: null,
      imageUrl: null,
      plan: "free",
    })
    expect((await lettersTo(ada)).map(({ subject }) => subject)).toEqual([
      "Willkommen bei Tideline",
      "Ihr Tarif bei Tideline hat sich geändert",
      "Ihr Tarif bei Tideline hat sich geändert",
    ])
  })
})

describe("looking up a record by the provider's id", () => {
  it("finds one's own", async () => {
    const scope = await signedIn(person())
    expect(await getUserByClerkId(scope, scope.viewer.user.clerkId)).toEqual(scope.viewer.user)
  })

  it("does not find another person's", async () => {
    const grace = await signedIn(person())
    const ada = await signedIn(person())
    expect(await getUserByClerkId(ada, grace.viewer.user.clerkId)).toBeNull()
  })
})

describe("a name from the profile step", () => {
  it("is sent to the provider, so that the next sync keeps it", async () => {
    const ada = person({ name: "A." })
    const scope = await signedIn(ada)
    await saveProfile(scope, { name: "Ada Lovelace" })
    expect(ada.name).toBe("Ada Lovelace")
    expect(await createOrUpdateUser(scope, valuesOf(ada))).toMatchObject({ name: "Ada Lovelace" })
  })

  it("is not written if the provider refuses it", async () => {
    const ada = person({ name: "A." })
    const scope = await signedIn(ada)
    const identity = {
      ...scope.identity,
      updateUser: () => Promise.reject(new Error("The provider is away.")),
    }
    await expect(saveProfile({ ...scope, identity }, { name: "Ada" })).rejects.toThrow(
      "The provider is away.",
    )
    expect(await rowsOf(ada)).toMatchObject([{ name: "A." }])
  })
})

describe("onboarding", () => {
  it("starts at the welcome, and continues to the profile and the first steps", async () => {
    const scope = await signedIn(person())
    expect(await getOnboardingStatus(scope)).toEqual({ completed: false, step: "welcome" })
    await finishOnboardingStep(scope, "welcome")
    expect(await getOnboardingStatus(scope)).toEqual({ completed: false, step: "profile" })
    await finishOnboardingStep(scope, "profile")
    expect(await getOnboardingStatus(scope)).toEqual({ completed: false, step: "first-steps" })
    await completeOnboarding(scope)
    expect(await getOnboardingStatus(scope)).toEqual({ completed: true, step: "done" })
  })

  it("is not advanced by a stale tab", async () => {
    const scope = await signedIn(person(), { onboardingStep: "first-steps" })
    await finishOnboardingStep(scope, "welcome")
    await finishOnboardingStep(scope, "profile")
    expect(await getOnboardingStatus(scope)).toMatchObject({ step: "first-steps" })
  })

  it("skips no step if a form arrives too early", async () => {
    const ada = person()
    const scope = await signedIn(ada)
    await finishOnboardingStep(scope, "profile")
    await completeOnboarding(scope)
    expect(await getOnboardingStatus(scope)).toEqual({ completed: false, step: "welcome" })
    expect(await lettersTo(ada)).toEqual([])
  })

  it("advances one step if two tabs submit the same one", async () => {
    const scope = await signedIn(person())
    await Promise.all([finishOnboardingStep(scope, "welcome"), finishOnboardingStep(scope, "welcome")])
    expect(await getOnboardingStatus(scope)).toMatchObject({ step: "profile" })
  })

  it("goes back one step at most", async () => {
    const scope = await signedIn(person(), { onboardingStep: "first-steps" })
    await reopenOnboardingStep(scope, "welcome")
    expect(await getOnboardingStatus(scope)).toMatchObject({ step: "first-steps" })
    await reopenOnboardingStep(scope, "profile")
    expect(await getOnboardingStatus(scope)).toMatchObject({ step: "profile" })
  })

  it("stays complete, whatever a stale tab sends", async () => {
    const scope = await signedIn(person(), { onboardingStep: "first-steps" })
    await completeOnboarding(scope)
    await reopenOnboardingStep(scope, "profile")
    await finishOnboardingStep(scope, "welcome")
    expect(await getOnboardingStatus(scope)).toEqual({ completed: true, step: "done" })
  })

  it("advances nobody else", async () => {
    const grace = await signedIn(person())
    const ada = await signedIn(person())
    await finishOnboardingStep(ada, "welcome")
    expect(await getOnboardingStatus(grace)).toMatchObject({ step: "welcome" })
  })

  it("queues one welcome email, however many tabs complete it", async () => {
    const ada = person({ name: "Ada Lovelace" })
    const scope = await signedIn(ada, { onboardingStep: "first-steps" })
    await Promise.all(Array.from({ length: 10 }, () => completeOnboarding(scope)))
    await completeOnboarding(scope)
    expect(await lettersTo(ada)).toMatchObject([
      { kind: "welcome", userId: ada.id, recipient: ada.email, subject: "Welcome to Tideline" },
    ])
  })

  it("queues no email if the provider has no address", async () => {
    const nobody = person({ email: null })
    const scope = await signedIn(nobody, { onboardingStep: "first-steps" })
    await completeOnboarding(scope)
    expect(await getOnboardingStatus(scope)).toEqual({ completed: true, step: "done" })
    expect(await lettersTo(nobody)).toEqual([])
  })

  it("is not completed if the email could not be queued", async () => {
    const ada = person()
    const scope = await signedIn(ada, { onboardingStep: "first-steps" })
    await expect(completeOnboarding({ ...scope, config: { origin: "no address" } })).rejects.toThrow()
    expect(await getOnboardingStatus(scope)).toMatchObject({ completed: false })
  })

  it("treats an empty record as the beginning", () => {
    expect(onboardingOf({ onboardingCompleted: false, onboardingStep: null })).toEqual({
      completed: false,
      step: "welcome",
    })
  })
})

let people = 0

function person(changes: Partial<IdentityUser> = {}): IdentityUser {
  people += 1
  const id = `user_${people}`
  return {
    id,
    email: `${id}@example.org`,
    emailVerified: true,
    holderConfirmed: true,
    name: null,
    imageUrl: null,
    plan: "free",
    ...changes,
  }
}

function sessionOf({ id, plan }: IdentityUser): Session {
  return { userId: id, sessionId: `${id}_session`, plan, via: "cookie" }
}

function valuesOf({ id, email, name, imageUrl, plan }: IdentityUser): CreateOrUpdateUser {
  return { clerkId: id, email: email ?? "", name, imageUrl, plan }
}

/** A provider that knows these people. `asked` records the lookups. */
function scopeFor(...known: IdentityUser[]) {
  const asked: { id: string; fresh: boolean }[] = []
  const find = (id: string) => known.find((candidate) => candidate.id === id)
  const identity: Identity = {
    kind: "embedded",
    isAnonymous: () => false,
    getUser: async (id, options) => {
      asked.push({ id, fresh: options?.fresh ?? false })
      return find(id) ?? null
    },
    updateUser: async (id, changes) => {
      const found = find(id)
      if (!found) throw new Error(`There is no user ${id}.`)
      Object.assign(found, changes)
    },
    deleteUser: unused,
    getSession: unused,
    issueRealtimeToken: unused,
    verifyRealtimeToken: unused,
    rootData: unused,
    signOut: unused,
  }
  return {
    db: database.db,
    identity,
    config: { origin: "http://localhost:3000", spaceForEveryone: null },
    asked,
  }
}

const unused = () => Promise.reject(new Error("Nothing here asks for this."))

async function signedIn(known: IdentityUser, at: { onboardingStep?: OnboardingStep } = {}) {
  const scope = scopeFor(known)
  const user = await findOrCreateUser(scope, sessionOf(known))
  if (at.onboardingStep) await database.db.update(users).set(at).where(eq(users._id, user._id))
  return { ...scope, viewer: { session: sessionOf(known), user: { ...user, ...at } } }
}

/** In the order in which they were written. */
async function lettersTo({ id }: IdentityUser) {
  const emails = await listOutbox(database, { limit: 1000 })
  return emails.filter(({ userId }) => userId === id).toReversed()
}

function rowsOf({ id }: IdentityUser) {
  return database.db.select().from(users).where(eq(users.clerkId, id))
}

/** Changes with every write to the row, including one that writes the same values. */
async function versionOf({ id }: IdentityUser) {
  const [row] = await database.db.execute<{ version: string }>(
    sql`select xmin::text || '/' || ctid::text as version from users where clerk_id = ${id}`,
  )
  return row?.version
}
