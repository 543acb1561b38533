import { sql } from "drizzle-orm"
import { spaceMembers, spaces } from "#db/schema/spaces.ts"
import type { Config } from "#server/config.ts"
import type { Scope } from "#server/scope.ts"
import { MOST_MEMBERS } from "./contract.ts"

/**
 * Adds a new person to the space that the operator has chosen for everyone. Does nothing while there
 * is no such space, and when it is full.
 */
export async function joinSpaceForEveryone(
  { config, db }: Scope<"db"> & { config: Pick<Config, "spaceForEveryone"> },
  userId: string,
): Promise<void> {
  if (!config.spaceForEveryone) return
  const { slug, role } = config.spaceForEveryone
  await db.execute(sql`
    insert into ${spaceMembers} (space_id, user_id, role)
    select _id, ${userId}, ${role} from ${spaces}
    where slug = ${slug} and not trashed
      and (select count(*) from ${spaceMembers} where space_id = ${spaces._id}) < ${MOST_MEMBERS}
    on conflict do nothing`)
}
