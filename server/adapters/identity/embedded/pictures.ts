import { randomUUID } from "node:crypto"
import { and, eq } from "drizzle-orm"
import type { Database } from "#db/client.ts"
import { authPicture } from "#db/schema/pictures.ts"
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

/** Where a person's own browser finds their picture. */
export function pictureAddress(origin: string, id: string): string {
  return `${origin}/dashboard/account/picture/${id}`
}
