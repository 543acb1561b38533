/** The engine, opened by a server, and what is defined for it. */
export { ActivityReport, sumReports } from "./server/activity.ts"
export { ANNOUNCE, type Announcements } from "./server/announce.ts"
export { type Channel, defineChannel } from "./server/channel.ts"
export {
  defineLiveQuery,
  defineMutation,
  type Dependency,
  type FieldOrder,
  type LiveQuery,
  type Mutation,
  type Refusals,
  rowEntries,
  type SnapshotSql,
  type TableDescription,
} from "./server/live-query.ts"
export {
  AcknowledgeMessage,
  AuthenticateMessage,
  BroadcastMessage,
  HandshakeMessage,
  JoinMessage,
  LeaveMessage,
  MutateMessage,
  QueryMessage,
  SubscribeItemMessage,
  UnsubscribeMessage,
} from "./server/messages.ts"
export { BOUNDS, type Distribution, type Measured } from "./server/metrics.ts"
export { openRealtime } from "./server/open.ts"
export type { Realtime } from "./server/realtime.ts"
export type { NamedCall } from "./server/options.ts"
export { type SqlScope, transactOn } from "./server/transact.ts"
