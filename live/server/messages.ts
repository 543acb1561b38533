import * as v from "valibot"

import { PROTOCOL_VERSION } from "../protocol/contract.ts"
import { CONNECTION_LIMITS } from "./limits.ts"
import { isStorable } from "../protocol/storable-contract.ts"

/**
 * What a client may send, with its limits. The engine has already refused messages over 64 kB.
 * Unknown fields are refused, except in the messages that have no response, which could not say so.
 */

const id = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(0x7fff_ffff))
const name = v.pipe(v.string(), v.minLength(1), v.maxLength(100), v.check<string>(isStorable))
const token = v.pipe(v.string(), v.minLength(1), v.maxLength(CONNECTION_LIMITS.tokenLength))
const lsn = v.pipe(v.string(), v.regex(/^[0-9A-F]{16}$/))

export const HandshakeMessage = v.strictObject(
  {
    version: v.literal(PROTOCOL_VERSION, `"version" must be ${PROTOCOL_VERSION}.`),
    token: v.pipe(
      v.string('"token" must be a text.'),
      v.minLength(1, '"token" is empty.'),
      v.maxLength(CONNECTION_LIMITS.tokenLength, '"token" is too long.'),
    ),
    client: v.optional(
      v.pipe(
        v.string('"client" must be a text.'),
        v.maxLength(
          CONNECTION_LIMITS.clientNameLength,
          `"client" is longer than ${CONNECTION_LIMITS.clientNameLength} characters.`,
        ),
      ),
    ),
  },
  'The handshake needs "version" and "token".',
)

/** Only what is needed to reply to each item by its id. */
export const SubscribeMessage = v.strictObject({
  subscriptions: v.pipe(
    v.array(v.looseObject({ id })),
    v.minLength(1),
    v.maxLength(CONNECTION_LIMITS.subscriptionsPerMessage),
  ),
})

export const SubscribeItemMessage = v.strictObject({
  id,
  query: name,
  args: v.unknown(),
  have: v.optional(v.strictObject({ token: v.pipe(v.string(), v.maxLength(1000)), lsn: v.optional(lsn) })),
})

export const UnsubscribeMessage = v.object({
  ids: v.pipe(v.array(id), v.maxLength(CONNECTION_LIMITS.subscriptions)),
})

export const QueryMessage = v.strictObject({ query: name, args: v.unknown() })

export const MutateMessage = v.strictObject({
  mutation: name,
  args: v.unknown(),
  mutationId: v.pipe(
    v.string(),
    v.minLength(CONNECTION_LIMITS.mutationIdLength.min),
    v.maxLength(CONNECTION_LIMITS.mutationIdLength.max),
    v.check<string>(isStorable),
  ),
})

export const JoinMessage = v.strictObject({ id, channel: name })

export const LeaveMessage = v.object({ id, channel: name })

export const BroadcastMessage = v.strictObject({ id, channel: name, message: v.unknown() })

export const AuthenticateMessage = v.strictObject({ token })

export const AcknowledgeMessage = v.object({
  sequence: v.pipe(v.number(), v.integer(), v.minValue(0)),
  awaiting: v.optional(lsn),
})
