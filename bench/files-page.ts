import { setTimeout as delay } from "node:timers/promises"
import type { Page } from "playwright-core"
import type postgres from "postgres"
import { framesWhile } from "./frames.ts"
import { opening, withPage } from "./page.ts"

// node bench/files-page.ts measures a list of 50,000 files in a browser: how soon its beginning is
// on the screen, also in another order and after a search, and which frames are dropped while it is
// scrolled down through 5,000 files and back, as fast as a hard flick and five times as fast.

const FILES = 50_000
/** Rows to scroll through. */
const SCROLLED = 5_000
/** Pixels per turn of the wheel, every 16 ms: 18,750 and 93,750 a second. */
const FLICK = 300
const RUSH = 1_500
const PORT = 3979

await withPage(PORT, async ({ sql, page, machine }) => {
  await makeFiles(sql)
  const report = await measure(page)
  process.stdout.write(`${JSON.stringify({ machine, ...report }, null, 2)}\n`)
})

async function measure(page: Page) {
  const open = await opening(page, "/dashboard/files", showsFiles)
  const byName = await opening(page, "/dashboard/files?sort=name", showsFiles)
  const searched = await opening(page, "/dashboard/files?q=49", showsFiles)
  const scrolled: Record<string, { down: object; up: object }> = {}
  for (const [speed, pixels] of Object.entries({ flick: FLICK, rush: RUSH })) {
    await page.goto("/dashboard/files")
    await showsFiles(page)
    await page.getByRole("list", { name: "Your files" }).hover()
    scrolled[speed] = {
      down: await framesWhile(page, () => scroll(page, pixels, () => isDrawn(page, FILES - SCROLLED))),
      up: await framesWhile(page, () => scroll(page, -pixels, () => page.evaluate(() => scrollY === 0))),
    }
  }
  return { open, byName, searched, ...scrolled }
}

function showsFiles(page: Page) {
  return page.locator("[data-file]").first().waitFor()
}

async function scroll(page: Page, pixels: number, isThere: () => Promise<boolean>) {
  while (!(await isThere())) {
    await page.mouse.wheel(0, pixels)
    await delay(16)
  }
}

/** Whether the file with this number, or a later one, is rendered. */
function isDrawn(page: Page, number: number) {
  return page.evaluate(
    (wanted) =>
      [...document.querySelectorAll("[data-file]")].some(
        ({ textContent }) => Number(/Sheet (\d+)/.exec(textContent)?.[1]) <= wanted,
      ),
    number,
  )
}

/** All rows share the same bytes, which are never downloaded. */
async function makeFiles(sql: postgres.Sql) {
  await sql`
    with blob as (
      insert into blobs (key, size, sha256) values ('none', 1000, repeat('0', 64)) returning _id
    )
    insert into files (storage_id, user_id, file_name, mime_type, size)
    select blob._id, users._id, 'Sheet ' || number || '.txt', 'text/plain', 1000
    from blob, users, generate_series(1, ${FILES}) as number`
  await sql`insert into file_usage (user_id, used) select _id, ${FILES * 1000} from users`
  await sql`vacuum analyze files`
}
