import { and, eq, exists } from "drizzle-orm"
import { randomUUID } from "node:crypto"
import * as v from "valibot"
import { spaceMembers, spacePictures, spaces } from "#db/schema/spaces.ts"
import { NotFound, UnsupportedType } from "#server/errors.ts"
import type { Scope } from "#server/scope.ts"
import { isFresh } from "#server/transport/conditional.ts"
import { ISOLATED } from "#server/transport/security-headers.ts"
import { ownMemberships, requireMember } from "./access.ts"
import { SpaceId } from "./place-contract.ts"

/**
 * Crops an image to a centred square and makes it the space's picture, by its owner. Metadata such as
 * the location is dropped. Throws `UnsupportedType` for anything but an image, `Unavailable`,
 * `NotFound`, `Forbidden`.
 */
export async function saveSpacePicture(
  scope: Scope<"db" | "thumbnailer" | "viewer">,
  spaceId: string,
  image: Uint8Array,
): Promise<void> {
  // Before the image is decoded, which takes time; and again in the transaction.
  await requireMember(scope, spaceId, ["owner"])
  const bytes = await scope.thumbnailer.draw(async () => image, "square")
  if (!bytes) throw new UnsupportedType("picture-unreadable")
  await scope.db.transaction(async (tx) => {
    await requireMember({ ...scope, db: tx }, spaceId, ["owner"])
    const picture = { pictureId: randomUUID(), bytes }
    await tx
      .insert(spacePictures)
      .values({ spaceId, ...picture })
      .onConflictDoUpdate({ target: spacePictures.spaceId, set: picture })
    await tx.update(spaces).set({ pictureId: picture.pictureId }).where(eq(spaces._id, spaceId))
  })
}

/** By its owner. Removing a missing picture is not an error. Throws `NotFound`, `Forbidden`. */
export function removeSpacePicture(scope: Scope<"db" | "viewer">, spaceId: string): Promise<void> {
  return scope.db.transaction(async (tx) => {
    await requireMember({ ...scope, db: tx }, spaceId, ["owner"])
    await tx.delete(spacePictures).where(eq(spacePictures.spaceId, spaceId))
    await tx.update(spaces).set({ pictureId: null }).where(eq(spaces._id, spaceId))
  })
}

/**
 * Serves GET and HEAD for the picture of one of the viewer's spaces. A URL that ends with the
 * picture's id always means the same picture. Throws `NotFound`, also if there is none.
 */
export async function serveSpacePicture(
  scope: Scope<"db" | "viewer">,
  spaceId: string,
  request: Request,
): Promise<Response> {
  if (!v.is(SpaceId, spaceId)) throw new NotFound("picture")
  const membership = scope.db
    .select({ _id: spaceMembers._id })
    .from(spaceMembers)
    .where(and(ownMemberships(scope), eq(spaceMembers.spaceId, spacePictures.spaceId)))
  const [picture] = await scope.db
    .select()
    .from(spacePictures)
    .where(and(eq(spacePictures.spaceId, spaceId), exists(membership)))
  if (!picture) throw new NotFound("picture")
  const isNamed = new URL(request.url).searchParams.get("id") === picture.pictureId
  const etag = `"${picture.pictureId}"`
  const headers = new Headers({
    ...ISOLATED,
    "Cache-Control": isNamed ? "private, max-age=31536000, immutable" : "private, no-cache",
    "Content-Type": "image/webp",
    ETag: etag,
  })
  if (isFresh(request.headers, etag)) return new Response(null, { status: 304, headers })
  headers.set("Content-Length", String(picture.bytes.byteLength))
  return new Response(request.method === "HEAD" ? null : new Uint8Array(picture.bytes), { headers })
}
