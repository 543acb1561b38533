import { and, desc, eq, lt, sql } from "drizzle-orm"
import { files } from "#db/schema/files.ts"
import { spaceMembers, spaces, type Space } from "#db/schema/spaces.ts"
import type { Scope } from "#server/scope.ts"

export type ListedSpace = Pick<Space, "_id" | "_creationTime" | "name" | "slug" | "trashed"> & {
  ownerEmail: string
  ownerName: string | null
  members: number
  /** Bytes of its files, including those in its trash. */
  used: number
}

/**
 * Spaces whose name, slug or owner's email address contains `q`, newest first. `before` is the `_id`
 * of the last one seen.
 */
export function listSpaces(
  { db }: Scope<"db">,
  { q, before, limit }: { q: string; before?: string | undefined; limit: number },
): Promise<ListedSpace[]> {
  const { _id, _creationTime, name, slug, trashed } = spaces
  const { memberEmail: ownerEmail, memberName: ownerName } = spaceMembers
  return db
    .select({
      _id,
      _creationTime,
      name,
      slug,
      trashed,
      ownerEmail,
      ownerName,
      members: db.$count(sql`${spaceMembers} as everybody`, sql`everybody.space_id = ${_id}`),
      used: sql<number>`
        (select coalesce(sum(${files.size}), 0) from ${files} where ${files.spaceId} = ${_id})::float8`,
    })
    .from(spaces)
    .innerJoin(spaceMembers, and(eq(spaceMembers.spaceId, _id), eq(spaceMembers.role, "owner")))
    .where(
      and(
        q === ""
          ? undefined
          : sql`strpos(lower(concat_ws(' ', ${name}, ${slug}, ${ownerEmail})), ${q.toLowerCase()}) > 0`,
        before === undefined ? undefined : lt(_id, before),
      ),
    )
    .orderBy(desc(_id))
    .limit(limit)
}
