import type { Database } from "#db/client.ts"
import { spaceMembers, spaces, type Role } from "#db/schema/spaces.ts"

interface Member {
  viewer: { user: { _id: string } }
}

/** Adds a space with these members, and resolves with its id. */
export async function aSpace(db: Database, ...members: [Member, Role][]): Promise<string> {
  const slug = `engines-${crypto.randomUUID().slice(0, 8)}`
  const [space] = await db.insert(spaces).values({ name: "Engines", slug }).returning()
  if (!space) throw new Error("No space was made.")
  for (const [member, role] of members) await join(db, space._id, member, role)
  return space._id
}

export async function join(db: Database, spaceId: string, { viewer }: Member, role: Role): Promise<void> {
  await db.insert(spaceMembers).values({ spaceId, userId: viewer.user._id, role })
}
