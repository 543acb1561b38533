import type { createClerkClient } from "@clerk/react-router/server"
import type { Log } from "#server/log.ts"
import type { Identity, IdentityUser } from "#server/ports/identity.ts"
import type { Plan } from "#server/ports/session.ts"

type Client = ReturnType<typeof createClerkClient>

/** Milliseconds. Asking Clerk is a call over the network. */
const GOOD_FOR = 60_000

const MOST_KEPT = 10_000

/** Clerk's user records, each cached for a minute. */
export function createDirectory(client: Client, log: Log) {
  const people = createMemory(askForUser)
  const plans = createMemory(askForPlan)

  async function askForUser(id: string): Promise<Omit<IdentityUser, "plan"> | null> {
    try {
      const user = await client.users.getUser(id)
      const email = user.primaryEmailAddress
      return {
        id,
        email: email?.emailAddress ?? null,
        emailVerified: email?.verification?.status === "verified",
        holderConfirmed: email?.verification?.status === "verified",
        name: user.fullName,
        imageUrl: user.imageUrl || null,
      }
    } catch (error) {
      if (isNotFound(error)) return null
      throw error
    }
  }

  /** Free if Clerk fails: an error must not grant a plan. */
  async function askForPlan(id: string): Promise<Plan> {
    try {
      const { subscriptionItems } = await client.billing.getUserBillingSubscription(id)
      const isPro = subscriptionItems.some(({ status, plan }) => status === "active" && plan?.slug === "pro")
      return isPro ? "pro" : "free"
    } catch (error) {
      if (!isNotFound(error)) log.warn({ err: error }, "could not read a user's plan from Clerk")
      return "free"
    }
  }

  const getUser: Identity["getUser"] = async (id, { fresh } = { fresh: false }) => {
    const [person, plan] = await Promise.all([people.get(id, { fresh }), plans.get(id, { fresh })])
    return person && { ...person, plan }
  }

  const updateUser: Identity["updateUser"] = async (id, { name }) => {
    const [firstName = "", ...rest] = name.trim().split(/\s+/)
    await client.users.updateUser(id, { firstName, lastName: rest.join(" ") })
    people.forget(id)
  }

  const deleteUser: Identity["deleteUser"] = async (id) => {
    await client.users.deleteUser(id).catch((error: unknown) => {
      if (!isNotFound(error)) throw error
    })
    forget(id)
  }

  function forget(id: string) {
    people.forget(id)
    plans.forget(id)
  }

  return { getUser, updateUser, deleteUser, forget, planOf: (id: string) => plans.get(id, { fresh: false }) }
}

/**
 * Caches by id, oldest evicted first. Concurrent callers share one request; errors are not cached.
 */
function createMemory<Answer>(ask: (id: string) => Promise<Answer>) {
  const kept = new Map<string, { until: number; answer: Promise<Answer> }>()
  return {
    get(id: string, { fresh }: { fresh: boolean }): Promise<Answer> {
      const known = kept.get(id)
      if (known && !fresh && known.until > performance.now()) return known.answer
      const answer = ask(id)
      kept.delete(id)
      kept.set(id, { until: performance.now() + GOOD_FOR, answer })
      answer.catch(() => {
        if (kept.get(id)?.answer === answer) kept.delete(id)
      })
      const oldest = kept.size > MOST_KEPT ? kept.keys().next().value : undefined
      if (oldest !== undefined) kept.delete(oldest)
      return answer
    },
    forget(id: string) {
      kept.delete(id)
    },
  }
}

/** Whether Clerk responded that it does not exist. */
export function isNotFound(error: unknown): boolean {
  return error instanceof Error && "status" in error && error.status === 404
}
