import { users } from "#db/schema/users.ts"
import { Forbidden, NotFound, UnsupportedType } from "#server/errors.ts"
import type { OwnPictures } from "#server/ports/own-account.ts"
import type { Scope } from "#server/scope.ts"
import { ISOLATED } from "#server/transport/security-headers.ts"
import { ownRecord } from "#server/users/access.ts"

type Keeping = Scope<"db" | "identity" | "viewer">

/**
 * Crops an image to a centred square and makes it the viewer's picture, at the identity provider
 * first, because the next sync would restore the old one. Metadata such as the location is dropped.
 * Throws `UnsupportedType` for anything but an image, `Unavailable`, and `Forbidden` if the
 * provider manages pictures.
 */
export async function savePicture(scope: Keeping & Scope<"thumbnailer">, image: Blob): Promise<void> {
  const pictures = requirePictures(scope)
  const webp = await scope.thumbnailer.draw(() => image.bytes(), "square")
  if (!webp) throw new UnsupportedType("picture-unreadable")
  await show(scope, await pictures.save(scope.viewer.session.userId, webp))
}

/** Throws as `savePicture` does. */
export async function removePicture(scope: Keeping): Promise<void> {
  await requirePictures(scope).remove(scope.viewer.session.userId)
  await show(scope, null)
}

/** The viewer's picture as WebP, by the last segment of its URL. Null if it is not stored here. */
export async function findPicture(
  { identity, viewer }: Scope<"identity" | "viewer">,
  id = viewer.user.imageUrl?.split("/").at(-1) ?? "",
): Promise<Uint8Array | null> {
  return (await identity.pictures?.find(viewer.session.userId, id)) ?? null
}

/**
 * Serves GET and HEAD for the viewer's own picture; no page shows it to others. Throws `NotFound`.
 */
export async function servePicture(scope: Scope<"identity" | "viewer">, id: string): Promise<Response> {
  const picture = await findPicture(scope, id)
  if (!picture) throw new NotFound("picture")
  return new Response(new Uint8Array(picture), {
    headers: {
      ...ISOLATED,
      // A new picture gets a new URL.
      "Cache-Control": "private, max-age=31536000, immutable",
      "Content-Length": String(picture.byteLength),
      "Content-Type": "image/webp",
    },
  })
}

async function show({ db, viewer }: Scope<"db" | "viewer">, imageUrl: string | null) {
  await db.update(users).set({ imageUrl }).where(ownRecord(viewer))
}

function requirePictures({ identity }: Scope<"identity">): OwnPictures {
  if (!identity.pictures) throw new Forbidden("picture-at-provider")
  return identity.pictures
}
