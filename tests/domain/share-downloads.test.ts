import type { Readable } from "node:stream"
import { beforeAll, describe, expect, it } from "vitest"
import { downloadShare } from "#server/files/share-visits.ts"
import { MOST_GUESSES, unlockLink } from "#server/links/visits.ts"
import { createRateLimiter } from "#server/transport/rate-limit.ts"
import { fileLinks } from "#server/files/shares.ts"
import { createLink } from "#server/links/links.ts"
import { uploadFile } from "#server/files/upload.ts"
import { aFile, openFileDrawer, type FileDrawer } from "../support/file-drawer.ts"
import { withResource } from "../support/with-resource.ts"

const drawer = withResource(openFileDrawer)
let ada: Awaited<ReturnType<FileDrawer["scopeOf"]>>
beforeAll(async () => {
  ada = await drawer.scopeOf("ada")
})

describe("a link for one download", () => {
  it("is not used up by a download whose bytes could not be read", async () => {
    const download = await shareOnce("away.txt")
    const blobs = { ...drawer.blobs, open: () => Promise.reject(new Error("The store is away.")) }
    await expect(download({ blobs })).rejects.toThrow("The store is away.")
    const response = await download()
    expect(await response.text()).toBe("What away.txt holds.")
    await expect(download()).rejects.toMatchObject({ status: 404 })
  })

  it("closes the bytes that were opened for a visitor who was too late", async () => {
    const download = await shareOnce("race.txt")
    const opened: Readable[] = []
    const open: typeof drawer.blobs.open = async (...asked) => {
      const stream = await drawer.blobs.open(...asked)
      if (stream) opened.push(stream)
      return stream
    }
    const blobs = { ...drawer.blobs, open }
    const answers = await Promise.allSettled(Array.from({ length: 5 }, () => download({ blobs })))
    for (const answer of answers) if (answer.status === "fulfilled") await answer.value.text()
    expect(answers.filter(({ status }) => status === "fulfilled")).toHaveLength(1)
    await expect.poll(() => opened.every(({ closed }) => closed)).toBe(true)
  })
})

describe("the password of a link", () => {
  it("cannot be guessed from many networks, and guesses at one link do not lock another", async () => {
    const sharePassword = createRateLimiter({ interval: 60_000, limit: 0 })
    const scope = { ...ada, limiters: { sharePassword } }
    const open = async (fileName: string) => {
      const file = await uploadFile(ada, aFile(fileName))
      const { url, share } = await createLink(ada, fileLinks, file._id, { password: "open sesame" })
      const token = url.slice(url.lastIndexOf("/") + 1)
      const guess = (password: string, network: string) =>
        unlockLink(scope, fileLinks, token, { password, network }, new Request(url))
      return { share, guess }
    }
    const [one, other] = [await open("one.txt"), await open("other.txt")]
    expect(await one.guess("sesame", "192.0.2.0")).toEqual({ cookie: null })
    // Guesses from many networks, without the work that each takes.
    for (let count = 1; count < MOST_GUESSES.ofLink; count++)
      sharePassword.check(one.share._id, MOST_GUESSES.ofLink)
    expect(await one.guess("open sesame", "192.0.2.1")).toEqual({
      limit: expect.objectContaining({ success: false }),
    })
    expect(await other.guess("open sesame", "192.0.2.1")).toEqual({ cookie: expect.any(String) })
  })
})

async function shareOnce(fileName: string) {
  const file = await uploadFile(ada, aFile(fileName))
  const { url } = await createLink(ada, fileLinks, file._id, { maxDownloads: 1 })
  const token = url.slice(url.lastIndexOf("/") + 1)
  return (changed: Partial<typeof ada> = {}) =>
    downloadShare({ ...ada, ...changed }, token, new Request(`${url}/download`))
}
