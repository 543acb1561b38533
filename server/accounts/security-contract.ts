import type { SecurityEventRow } from "#db/schema/security.ts"

/** The browser or program that a request came from. */
export interface Sender {
  /** Its network address. */
  address: string | null
  userAgent: string | null
}

/** An event of an account's security. */
export interface SecurityEvent {
  /** The identity provider's id of the person. */
  userId: string
  event: SecurityEventRow["event"]
  /** For a sign-in. */
  way?: NonNullable<SecurityEventRow["way"]>
  facts?: NonNullable<SecurityEventRow["facts"]>
  /** Null for actions of the server itself. */
  from: Sender | null
  /** The entry in the operators' history, if an operator did it. */
  operatorActId?: string
}

/** An entry of the security log, as its pages show it. */
export interface SecurityEntry extends Pick<
  SecurityEventRow,
  "_id" | "_creationTime" | "event" | "way" | "facts" | "address" | "userAgent"
> {
  /** Whether somebody else did it: an operator, at `/admin` or with a command on the server. */
  byOperator: boolean
}
