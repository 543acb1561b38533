import type { Thumbnailer } from "#server/files/thumbnailer.ts"

/** Images that are kept for the next message of their conversations. */
const KEPT = 20

const kept = new WeakMap<Thumbnailer, Map<string, Uint8Array>>()

/**
 * A smaller picture of an image, as JPEG, which every model that sees anything accepts; null if none
 * can be created. `sha256` is the image's. Throws as the thumbnailer does.
 */
export async function shrinkForModel(
  thumbnailer: Thumbnailer,
  sha256: string,
  load: () => Promise<Uint8Array>,
): Promise<Uint8Array | null> {
  const images = kept.get(thumbnailer) ?? new Map<string, Uint8Array>()
  kept.set(thumbnailer, images)
  const image = images.get(sha256) ?? (await thumbnailer.draw(load, "model"))
  if (!image) return null
  // The one that was used last is removed last.
  images.delete(sha256)
  images.set(sha256, image)
  const [oldest] = images.keys()
  if (images.size > KEPT && oldest !== undefined) images.delete(oldest)
  return image
}
