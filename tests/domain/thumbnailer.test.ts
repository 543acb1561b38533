import { execFile } from "node:child_process"
import { promisify } from "node:util"
import sharp from "sharp"
import { afterEach, describe, expect, it } from "vitest"
import { openThumbnailer, type Thumbnailer } from "#server/files/thumbnailer.ts"
import { openLog } from "#server/log.ts"
import { image } from "../support/images.ts"

const log = openLog("silent")
let thumbnailer: Thumbnailer
afterEach(() => thumbnailer.close())

describe("the thumbnail processes", () => {
  it("are replaced when they exit, during an image and between two", async () => {
    thumbnailer = openThumbnailer({ log })
    const photo = await image("jpeg", [2000, 2000])
    const first = await thumbnailer.draw(async () => photo)
    expect(first).toBeInstanceOf(Uint8Array)
    await killThem()
    expect(await thumbnailer.draw(async () => photo)).toEqual(first)
    const drawing = Array.from({ length: 6 }, () => thumbnailer.draw(async () => photo))
    await killThem()
    expect(await Promise.all(drawing)).toEqual(drawing.map(() => first))
  })

  it("are two at most, and serve the latest request first", async () => {
    thumbnailer = openThumbnailer({ log })
    const photo = await image("png", [300, 300])
    const order: number[] = []
    const drawing = Array.from({ length: 12 }, (_, number) =>
      thumbnailer.draw(async () => {
        order.push(number)
        return photo
      }),
    )
    await Promise.all(drawing)
    expect(order).toEqual([11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0])
    expect((await pids()).length).toBe(2)
  })

  it("crop a centred square on request, and strip the location", async () => {
    thumbnailer = openThumbnailer({ log })
    const stripes = await sharp({ create: { width: 900, height: 300, channels: 3, background: "#f00" } })
      .composite([{ input: await image("png", [300, 300]), left: 300, top: 0 }])
      .withExif({ IFD0: { Copyright: "Ada" }, IFD3: { GPSLatitude: "51/1 30/1 0/1" } })
      .jpeg()
      .toBuffer()
    const square = await thumbnailer.draw(async () => stripes, "square")
    const { width, height, format, exif } = await sharp(square ?? Buffer.alloc(0)).metadata()
    expect({ width, height, format, exif }).toEqual({
      width: 256,
      height: 256,
      format: "webp",
      exif: undefined,
    })
    const { channels } = await sharp(square ?? Buffer.alloc(0)).stats()
    expect(channels[0]?.max).toBeLessThan(90) // nothing of the red at both sides
    const small = await thumbnailer.draw(() => image("png", [40, 20]), "square")
    expect(await sharp(small ?? Buffer.alloc(0)).metadata()).toMatchObject({ width: 256, height: 256 })
  })

  it("drop the oldest request if too many wait, and reject all when they close", async () => {
    thumbnailer = openThumbnailer({ log })
    const photo = await image("png", [300, 300])
    const answers = Array.from({ length: 210 }, () =>
      thumbnailer
        .draw(async () => photo)
        .then(
          () => "drawn",
          (error: Error) => error.name,
        ),
    )
    await answers[209]
    await thumbnailer.close()
    const said = await Promise.all(answers)
    expect(said.filter((answer) => answer === "Unavailable").length).toBeGreaterThanOrEqual(8)
    expect(said.slice(0, 8)).toEqual(Array.from({ length: 8 }, () => "Unavailable"))
    expect(await thumbnailer.draw(async () => photo).catch(({ name }: Error) => name)).toBe("Unavailable")
    expect(await pids()).toEqual([])
  })

  it("report a failure to read an image, and continue", async () => {
    thumbnailer = openThumbnailer({ log })
    const lost = thumbnailer.draw(() => Promise.reject(new Error("the disk is away")))
    await expect(lost).rejects.toThrow("the disk is away")
    expect(await thumbnailer.draw(async () => Buffer.from("no image"))).toBeNull()
    expect(await thumbnailer.draw(() => image("webp", [9, 9]))).toBeInstanceOf(Uint8Array)
  })
})

async function killThem() {
  for (const pid of await pids()) process.kill(pid, "SIGKILL")
}

/** The processes that this one has started for thumbnails. */
async function pids() {
  const { stdout } = await promisify(execFile)("ps", ["-A", "-o", "pid=,ppid=,args="])
  return stdout
    .split("\n")
    .filter((line) => line.includes("thumbnail-process") && !line.includes("defunct"))
    .map((line) => line.trim().split(/\s+/))
    .filter(([, parent]) => parent === String(process.pid))
    .map(([pid]) => Number(pid))
}
