/** Pixels of the longer side, more than models look at. */
const SIDE = 2048

/**
 * A smaller picture of the same, as JPEG, or as WebP where it may be transparent. Null where the
 * browser cannot decode it.
 */
export async function shrinkImage(file: File): Promise<File | null> {
  const bitmap = await createImageBitmap(file).catch(() => null)
  if (!bitmap) return null
  const scale = Math.min(1, SIDE / Math.max(bitmap.width, bitmap.height))
  const canvas = document.createElement("canvas")
  canvas.width = Math.max(1, Math.round(bitmap.width * scale))
  canvas.height = Math.max(1, Math.round(bitmap.height * scale))
  canvas.getContext("2d")?.drawImage(bitmap, 0, 0, canvas.width, canvas.height)
  bitmap.close()
  const type = file.type === "image/jpeg" ? "image/jpeg" : "image/webp"
  const blob = await new Promise<Blob | null>((done) => canvas.toBlob(done, type, 0.85))
  if (!blob) return null
  // Safari writes no WebP, and gives PNG instead.
  const ending = blob.type.slice("image/".length).replace("jpeg", "jpg")
  return new File([blob], `${file.name.replace(/\.[^.]*$/, "")}.${ending}`, {
    type: blob.type,
    lastModified: file.lastModified,
  })
}
