/** What a process needs that does not open the engine: connections to PostgreSQL, checks, limits. */
export {
  type Connection,
  type ConnectionPool,
  openConnectionPool,
  openOneConnection,
  type Statement,
} from "./postgres/connections.ts"
export { isFull, isLost, isOutage, reasonOf, refusesWrites } from "./postgres/outage.ts"
export {
  hostInUrl,
  nameOfServers,
  openPostgres,
  readDatabaseUrl,
  serversOf,
  UNSEEN,
} from "./postgres/servers.ts"
export { createFailureLog } from "./server/failure-log.ts"
export { checkServer, findFaults, UnfitServer } from "./server/check-server.ts"
export { CHANNEL_LIMITS, CONNECTION_LIMITS, LIMITS, OUTBOX_LIMITS } from "./server/limits.ts"
export { removeEngine, removeSlots } from "./server/remove.ts"
export { openReplication } from "./server/replication.ts"
export { prepareEngine } from "./server/setup.ts"
export { adviseSlot, IS_WITHOUT_SLOT, RECEIVES } from "./server/standby-slot.ts"
export { type FieldsSchema, findUnknownField, type InputSchema, listed } from "./server/unknown-field.ts"
