import { eq, sql } from "drizzle-orm"
import type { Database } from "#db/client.ts"
import { authUser } from "#db/schema/auth.ts"
import { authPicture } from "#db/schema/pictures.ts"
import type { Identity } from "#server/ports/identity.ts"
import { pictureAddress } from "./pictures.ts"

/**
 * Reads what is known about a person. The statement is prepared once, because every signed-in page
 * needs it.
 */
export function openPersonReader(db: Database, origin: string): Identity["getUser"] {
  const { email, emailVerified, holderConfirmed, name, plan } = authUser
  const find = db
    .select({ email, emailVerified, holderConfirmed, name, plan, picture: authPicture.id })
    .from(authUser)
    .leftJoin(authPicture, eq(authPicture.userId, authUser.id))
    .where(eq(authUser.id, sql.placeholder("id")))
    .prepare("person_by_id")

  return async (id) => {
    const [user] = await find.execute({ id })
    if (!user) return null
    const { picture, ...said } = user
    return { id, ...said, name: user.name || null, imageUrl: picture && pictureAddress(origin, picture) }
  }
}
