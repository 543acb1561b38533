import { randomUUID } from "node:crypto"
import { and, eq, sql } from "drizzle-orm"
import type { Database } from "#db/client.ts"
import { authUser } from "#db/schema/auth.ts"
import { authPicture } from "#db/schema/pictures.ts"
import type { Identity } from "#server/ports/identity.ts"
import type { OwnPictures } from "#server/ports/own-account.ts"

export function openPictures({ db, origin }: { db: Database; origin: string }): OwnPictures {
  return {
    async save(userId, bytes) {
      const picture = { id: randomUUID(), bytes }
      await db
        .insert(authPicture)
        .values({ userId, ...picture })
        .onConflictDoUpdate({ target: authPicture.userId, set: picture })
      return pictureAddress(origin, picture.id)
    },

    async remove(userId) {
      await db.delete(authPicture).where(eq(authPicture.userId, userId))
    },

    async find(userId, pictureId) {
      if (!/^[\da-f-]{36}$/.test(pictureId)) return null
      const [picture] = await db
        .select({ bytes: authPicture.bytes })
        .from(authPicture)
        .where(and(eq(authPicture.userId, userId), eq(authPicture.id, pictureId)))
      return picture?.bytes ?? null
    },
  }
}

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

/** Where a person's own browser finds their picture. */
function pictureAddress(origin: string, id: string): string {
  return `${origin}/dashboard/account/picture/${id}`
}
