import { badInput } from "#server/errors.ts"
import { eq, sql, type SQL } from "drizzle-orm"
import { CONNECTION_LIMITS, isOutage } from "#live/check"
import { users } from "#db/schema/users.ts"
import type { ProcessLock } from "#db/process-lock.ts"
import { STOP_TOPIC } from "./chat/stop.ts"
import { divideConnections, type Reached } from "./database.ts"
import { openDevices } from "./devices/devices.ts"
import { Forbidden } from "./errors.ts"
import { liveChannels, liveMutations, liveQueries, neededScope, watchedTables } from "./live-functions.ts"
import { clientAddressOf, networkOf } from "./transport/client-address.ts"
import { findStreamPlace } from "./operator/stream-place.ts"
import { ANNOUNCE, type Announcements, type NamedCall, openRealtime, type Realtime } from "#live/open"
import type { EarlyServices, MutationScope, Services, Viewer } from "./scope.ts"
import { findOrCreateUser } from "./users/users.ts"

/** Opens the realtime layer with this product's live queries, mutations and authentication. */
export async function openLive(
  services: EarlyServices,
  database: Reached,
  lock: ProcessLock,
  announcements: Announcements,
): Promise<Realtime<Viewer>> {
  const { config, log } = services
  const devices = await openDevices(services, lock)
  const realtime: Realtime<Viewer> = await openRealtime<Viewer, MutationScope>({
    databaseUrl: database.directUrl,
    poolerUrl: database.poolerUrl ?? undefined,
    // Each process in another order, so that they share the standbys.
    followUrls: toShuffled(config.follow.urls),
    confirmedBy: config.follow.confirmedBy,
    connections: divideConnections(config.databaseConnections).live,
    log,
    tables: watchedTables,
    queries: liveQueries,
    mutations: liveMutations,
    channels: liveChannels,
    verify: (token) => verify(services, token),
    userIdOf: (viewer) => viewer.session.userId,
    credentialsOf: ({ session }) => credentialsOf(session),
    permit: ({ session }, call) => permit(session, call),
    refuseArguments: badInput,
    isSessionValid: async ({ session, user }) =>
      (await services.identity.isSessionValid?.(session)) ?? hasRecord(services, user._id),
    transact: (viewer, work) => transact(services, viewer, work),
    origins: [config.origin],
    addressOf: (request) => networkOf(clientAddressOf(request, config.trustsProxy)),
    secret: config.identity.authSecret,
    presence: {
      opened: ({ id, viewer, client }) =>
        devices.opened({ connectionId: id, userId: viewer.user._id, label: labelOf(client) }),
      closed: ({ id }) => devices.closed(id),
    },
    announcements: {
      ...announcements,
      [STOP_TOPIC]: (answerId) => void services.turns.stop(answerId),
      ...services.uploadLocks.announcements,
      ...services.runningRequests.announcements,
      ...services.activityExchange.announcements(() => ({
        report: realtime.activity(),
        stream: findStreamPlace(realtime),
      })),
    },
  })
  const close = realtime.close.bind(realtime)
  let closing: Promise<void> | undefined
  return Object.assign(realtime, { close: () => (closing ??= close().then(() => devices.close())) })
}

/**
 * The credential that a connection was opened with, as the rules `announce_end` and
 * `announce_end_of_all` name it when it ends. `announce_end_of_user` ends those of a person.
 */
function credentialsOf({ sessionId, keyId }: Viewer["session"]): string[] {
  if (keyId !== undefined) return [`key:${keyId}`, "key:*"]
  return sessionId === null ? [] : [`session:${sessionId}`, "session:*"]
}

/** A limited key may call what its scopes allow. */
function permit({ keyScopes }: Viewer["session"], call: NamedCall): void {
  if (!keyScopes) return
  const needed = neededScope(call)
  if (needed === "unlimited") throw new Forbidden("key-limited")
  if (needed !== "any" && !keyScopes.includes(needed))
    throw new Forbidden("key-scope-missing", { scope: needed })
}

/** A provider that cannot be asked about sessions has notified us if it deleted the user. */
async function hasRecord({ db }: Pick<Services, "db">, userId: string): Promise<boolean> {
  return (await db.$count(users, eq(users._id, userId))) > 0
}

/** The connection's description of itself, sanitised for display. */
function labelOf(client: string | null): string {
  return (
    client
      ?.replaceAll(/\p{Cc}/gu, "")
      .slice(0, CONNECTION_LIMITS.shownNameLength)
      .trim() || "A program"
  )
}

async function verify(services: Pick<Services, "config" | "identity" | "db">, token: string) {
  try {
    const { expiresAt, endsAt, ...session } = await services.identity.verifyRealtimeToken(token)
    return { expiresAt, endsAt, viewer: { session, user: await findOrCreateUser(services, session) } }
  } catch (error) {
    if (isOutage(error)) throw error
    return null
  }
}

async function transact<Value>(
  services: EarlyServices,
  viewer: Viewer,
  work: (
    scope: MutationScope,
    query: (text: string, values: readonly string[]) => Promise<readonly Record<string, unknown>[]>,
  ) => Promise<Value>,
): Promise<Value> {
  const effects: Parameters<Services["afterCommit"]>[0][] = []
  const afterCommit: Services["afterCommit"] = async (effect) => void effects.push(effect)
  const value = await services
    .dbFor(viewer.session.userId)
    .transaction((db) =>
      work({ ...services, db, viewer, afterCommit }, (text, values) => db.execute(statement(text, values))),
    )
  for (const effect of effects) {
    void effect(services.db).catch((error: unknown) =>
      services.log.error({ err: error }, "a mutation's effect after its commit failed"),
    )
  }
  return value
}

/** Announces within the transaction `db`, or immediately if it is not a transaction. */
export const announce: Services["announce"] = async (db, topic, text) => {
  await db.execute(statement(ANNOUNCE, [topic, text]))
}

/** A statement with `$1`, `$2` ... as Drizzle builds its own. */
function statement(text: string, values: readonly string[]): SQL {
  const parts = text.split(/\$(\d+)/)
  return sql.join(parts.map((part, at) => (at % 2 === 0 ? sql.raw(part) : sql`${values[Number(part) - 1]}`)))
}

function toShuffled<Item>(items: readonly Item[]): Item[] {
  return items
    .map((item) => ({ item, place: Math.random() }))
    .toSorted((one, other) => one.place - other.place)
    .map(({ item }) => item)
}
