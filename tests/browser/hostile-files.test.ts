import { parse as parseDisposition } from "content-disposition"
import type { BrowserContext, Page } from "playwright-core"
import { beforeAll, describe, expect, it } from "vitest"
import type { FileSummary, ShareSummary } from "#server/files/contract.ts"
import type { NewLink } from "#server/links/contract.ts"
import { sample } from "../support/all.ts"
import { post } from "../support/api.ts"
import { giveCookies } from "../support/browser.ts"
import { named, scripted } from "../support/hostile-files.ts"
import { ada as adaLovelace } from "../support/people.ts"
import { storedPaths } from "../support/stored-paths.ts"
import { readZip } from "../support/zip.ts"
import { withBrowser } from "../support/with-browser.ts"
import { withTideline } from "../support/with-tideline.ts"

let adas: BrowserContext
/** One of our own pages, which shows files. */
let home: Page
let seen: string[]
const { app, sql, ada } = withTideline({ people: { ada: adaLovelace }, onboarded: true })
const browser = withBrowser()

beforeAll(async () => {
  adas = await signedIn()
  seen = watch(adas)
  home = await adas.newPage()
  await home.goto(`${app.origin}/dashboard`)
})

describe("a file that contains a script", () => {
  it.each(sample(scripted, 5))("runs nothing in our origin: %s", async (name, content) => {
    const file = await store(name, content)
    const shared = await ada(`/api/files/${file._id}/shares`, post({}))
    const { url } = (await shared.json()) as NewLink<ShareSummary>
    const address = `/api/files/${file._id}`

    const page = await adas.newPage()
    for (const opened of [app.origin + address, `${app.origin}${address}?download`, `${url}/download`]) {
      // A download is not a navigation, and `goto` rejects.
      const answer = await page.goto(opened).catch(() => null)
      if (answer === null) continue
      // The page around a PDF is the browser's own viewer, and contains nothing of the file.
      const isPdf = answer.headers()["content-type"] === "application/pdf"
      if (!isPdf) expect(await page.evaluate(() => origin)).toBe("null")
      expect(await page.title()).not.toBe("owned")
    }
    await page.goto(url)
    expect(await page.getByText(file.fileName, { exact: true }).count()).toBe(1)
    await page.close()
    await home.evaluate(embed, address)
    expect([200, 415]).toContain((await ada(`${address}/thumbnail`)).status)
    expect(seen).toEqual([])
    await purge(file)
  })
})

describe("a hostile name", () => {
  it("cannot leave its folder or break a header, and is the same everywhere it is shown", async () => {
    const files: FileSummary[] = []
    for (const name of named) files.push(await store(name, Buffer.from("x")))
    for (const { _id, fileName } of files) {
      expect(Buffer.byteLength(fileName)).toBeLessThanOrEqual(255)
      expect(fileName).not.toMatch(/[/\\\p{Cc}\u200B\u2028-\u202E\u2066-\u2069\uFEFF]|^\.{1,2}$|^$/u)
      const { url } = (await (
        await ada(`/api/files/${_id}/shares`, post({}))
      ).json()) as NewLink<ShareSummary>
      for (const address of [`/api/files/${_id}`, `${url}/download`]) {
        const answer = await ada(address)
        expect(answer.status).toBe(200)
        expect(answer.headers.getSetCookie().every((cookie) => cookie.startsWith("share_download="))).toBe(
          true,
        )
        const { parameters } = parseDisposition(answer.headers.get("content-disposition") ?? "")
        expect(parameters["filename"]).toBe(fileName)
        await answer.text()
      }
    }
    const archive = await ada("/api/files/archive", post({ all: true }))
    const entries = readZip(Buffer.from(await archive.arrayBuffer())).map(([name]) => name)
    expect(new Set(entries.map((name) => name.toLowerCase())).size).toBe(files.length)
    const unpacked = files.map(({ fileName }) => fileName.replaceAll(/[<>:"|?*]/g, "_"))
    expect(entries.toSorted()).toEqual(unpacked.toSorted())
    const paths = await storedPaths(app)
    expect(paths).toHaveLength(files.length)
    for (const path of paths) expect(path).toMatch(/\/blobs\/[0-9a-f]{2}\/[0-9a-f]{2}\/[0-9a-f-]{36}$/)

    // Tall enough to render all of them: the list renders only what is in view.
    await home.setViewportSize({ width: 1280, height: 4000 })
    await home.goto(`${app.origin}/dashboard/files`)
    await home.getByText("passwd").first().waitFor()
    expect(seen).toEqual([])
    for (const file of files) await purge(file)
  }, 120_000)
})

it("no hostile file is left behind", async () => {
  expect(await storedPaths(app)).toEqual([])
  for (const table of ["files", "blobs", "uploads", "file_shares", "file_thumbnails"])
    expect([table, await sql`select 1 from ${sql(table)}`]).toEqual([table, []])
  expect([...(await sql`select used::int, reserved::int from file_usage`)]).toEqual([
    { used: 0, reserved: 0 },
  ])
  expect(app.log.filter((line) => line.includes('"level":50'))).toEqual([])
})

async function signedIn() {
  const context = await browser.newContext()
  await giveCookies(context, ada, app)
  return context
}

/** Shows a file in the ways our pages may: in a frame and as an image. Runs in the browser. */
async function embed(address: string) {
  const frame = document.createElement("iframe")
  frame.src = address
  const loaded = new Promise((resolve) => frame.addEventListener("load", resolve))
  document.body.append(frame)
  const image = new Image()
  image.src = address
  await image.decode().catch(() => {})
  // A download never fires `load`.
  await Promise.race([loaded, fetch(address).then((answer) => answer.arrayBuffer())])
  frame.remove()
}

/** What a script running in the application's origin would have done. */
function watch(context: BrowserContext) {
  const noticed: string[] = []
  context.on("request", (request) => {
    if (request.url().includes("owned")) noticed.push(request.url())
  })
  context.on("dialog", (dialog) => {
    noticed.push(dialog.message())
    void dialog.dismiss()
  })
  return noticed
}

async function store(name: string, content: Buffer): Promise<FileSummary> {
  const body = new Uint8Array(content)
  const answer = await ada(`/api/files?name=${encodeURIComponent(name.toWellFormed())}`, {
    method: "POST",
    body,
  })
  const { files } = (await answer.json()) as { files?: FileSummary[] }
  if (!files?.[0]) throw new Error(`Nothing was stored of ${name}: ${answer.status}`)
  return files[0]
}

async function purge({ _id }: FileSummary) {
  expect((await ada(`/api/files/${_id}?permanently=1`, { method: "DELETE" })).status).toBe(204)
}
