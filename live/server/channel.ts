import * as v from "valibot"

import type { ChannelType } from "../protocol/contract.ts"
import type { LiveQuery } from "./live-query.ts"

/**
 * A declared channel, as the engine runs it. Its messages are not stored: they reach those who
 * listen at the time, or nobody.
 */
export interface Channel<Name extends string = string, Message = unknown> extends ChannelType<Name, Message> {
  readonly description: string
  /** Anyone who is subscribed to it may listen and send, within the same range. */
  readonly query: Pick<LiveQuery, "name">
  readonly schema: v.GenericSchema
  accepts?(message: unknown, viewer: unknown): boolean
  /** Who sends: everybody who has joined, or the server alone. */
  readonly sentBy: "members" | "server"
}

/** Declares a channel beside a live query, for what is no record: typing, cursors, presence. */
export function defineChannel<const Name extends string, Schema extends v.GenericSchema>(definition: {
  name: Name
  /** For the authors of clients. */
  description: string
  query: Pick<LiveQuery, "name">
  message: Schema
  sentBy?: Channel["sentBy"]
  /** Refuses what the sender may not say, such as that they are somebody else. */
  accepts?(message: v.InferOutput<Schema>, viewer: unknown): boolean
}): Channel<Name, v.InferInput<Schema>> {
  const { message, sentBy = "members", ...rest } = definition
  return { ...rest, sentBy, schema: message }
}
