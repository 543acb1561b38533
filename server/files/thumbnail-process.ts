import sharp from "sharp"

// A process of its own: what a hostile image can do to a decoder, it does to this one. It has no
// settings and no secrets, takes one image after the other over its channel, and is ended by force
// when it takes too long.

/** What an image is turned into. Pixels. */
const SIDE = 256

/** Pixels. Those that are decoded as a whole take four bytes each; the others pass by in rows. */
const MOST_PIXELS = { inRows: 100e6, whole: 40e6 }

/** Seconds for one image, before the request for it times out. */
const TIME = 20

export interface Order {
  image: Uint8Array
  shape: Shape
}
/** As the image is, or the square in its middle. */
export type Shape = "whole" | "square"
/** Null for what no picture can be made of. */
export type Delivery = Uint8Array | null

// A file that says it is a PNG may be anything: only these decoders are there at all.
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
  return sharp(image, { limitInputPixels, sequentialRead: true, failOn: "error" })
    .timeout({ seconds: TIME })
    .autoOrient()
    .resize(SIDE, SIDE, shape === "square" ? { fit: "cover" } : { fit: "inside", withoutEnlargement: true })
    .webp({ quality: 75, effort: 2 })
    .toBuffer()
}
