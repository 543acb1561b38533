import sharp from "sharp"

// A separate process, so that a malicious image that breaks a decoder breaks only this. It has no
// settings and no secrets, receives one image at a time over its channel, and is killed if it takes
// too long.

/** The longer side, in pixels. Larger images cost a model more tokens and show it no more. */
const SIDES = { whole: 256, square: 256, model: 2048 }

/**
 * Pixels. Formats that are decoded as a whole take four bytes for each; the others are processed
 * row by row.
 */
const MOST_PIXELS = { inRows: 100e6, whole: 40e6 }

/** Seconds for one image, before the request for it times out. */
const TIME = 20

export interface Order {
  image: Uint8Array
  shape: Shape
}
/** In the image's proportions, its central square, or as a model receives it. */
export type Shape = "whole" | "square" | "model"
/** Null if no thumbnail can be created. */
export type Delivery = Uint8Array | null

// A file that claims to be a PNG may be anything: only these decoders are available.
sharp.block({ operation: ["VipsForeignLoad"] })
sharp.unblock({
  operation: [
    "VipsForeignLoadJpegBuffer",
    "VipsForeignLoadPngBuffer",
    "VipsForeignLoadWebpBuffer",
    "VipsForeignLoadNsgifBuffer",
    "VipsForeignLoadHeifBuffer",
  ],
})
sharp.cache(false)
sharp.concurrency(1)

process.on("message", (order: Order) => {
  draw(order).then(
    (picture) => process.send?.(picture satisfies Delivery),
    () => process.send?.(null satisfies Delivery),
  )
})
process.on("disconnect", () => process.exit(0))
process.send?.("ready")

async function draw({ image, shape }: Order): Promise<Uint8Array> {
  const { width, height, format, isProgressive } = await sharp(image).metadata()
  const inRows = (format === "jpeg" || format === "png") && !isProgressive
  const limitInputPixels = inRows ? MOST_PIXELS.inRows : MOST_PIXELS.whole
  if (width * height > limitInputPixels) throw new Error("The image has too many pixels.")
  const side = SIDES[shape]
  const picture = sharp(image, { limitInputPixels, sequentialRead: true, failOn: "error" })
    .timeout({ seconds: TIME })
    .autoOrient()
    .resize(side, side, shape === "square" ? { fit: "cover" } : { fit: "inside", withoutEnlargement: true })
  return shape === "model"
    ? picture.flatten({ background: "#fff" }).jpeg({ quality: 85 }).toBuffer()
    : picture.webp({ quality: 75, effort: 2 }).toBuffer()
}
