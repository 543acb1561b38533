import type { PgColumn, PgTable } from "drizzle-orm/pg-core"
import type { Database } from "#db/client.ts"
import type { FileShare } from "#db/schema/files.ts"
import type { Scope } from "#server/scope.ts"
import type { Placed } from "#server/spaces/access.ts"
import type { LinkLimits, LinkRow } from "./contract.ts"

/** The columns that every table of links has. */
export type StoredLink = Omit<FileShare, "fileId" | "maxDownloads" | "downloads">

/**
 * What a public link can open, as its domain declares it. Code that reads neither the stored link nor
 * the thing takes them as `never`.
 */
export interface LinkTarget<
  Limits extends LinkLimits,
  Row extends LinkRow,
  Stored extends StoredLink = never,
  Thing = never,
> {
  name: "file" | "conversation"
  /** Of its links, before their secret part. */
  path: "/share" | "/share/chat"
  tooMany: "too-many-links" | "too-many-conversation-links"
  things: PgTable & Placed & Record<"_id" | "spaceId" | "trashed", PgColumn>
  links: PgTable & Placed & Record<keyof StoredLink, PgColumn>
  /** The column of `links` that names the thing. */
  of: PgColumn
  /** The columns of a new link that links to other things do not have. */
  valuesOf(scope: { db: Database } & Scope<"viewer">, thing: Thing, limits: Limits): Promise<object> | object
  /** A link as its owner sees it. */
  rowOf(link: Stored): Row
  /** Whether new visitors find nothing. */
  isUsedUp?(link: Stored): boolean
  /** In the transaction that revokes a link. */
  afterRevoking?(db: Database, thingId: string): Promise<void>
}
