import type { BrowserContextOptions, Page } from "playwright-core"
import postgres from "postgres"
import { expect } from "vitest"
import type { FileSummary } from "#server/files/contract.ts"
import { startTideline } from "./app.ts"
import { giveCookies, launchBrowser, takenOver } from "./browser.ts"
import { ada as adaLovelace, signUp } from "./people.ts"

export type FilesBrowser = Awaited<ReturnType<typeof openFilesBrowser>>

/** The application, a browser, and somebody who is signed in and has finished onboarding. */
export async function openFilesBrowser(env: Record<string, string>) {
  const app = await startTideline(env)
  const sql = postgres(app.databaseUrl, { max: 1 })
  const browser = await launchBrowser()
  const ada = await signUp(app, adaLovelace)
  // The first page requested creates the record.
  await ada("/dashboard")
  await sql`update users set onboarding_completed = true`

  /**
   * Opens it in a new browser, or in that of another page. Confirms dialogs that ask before
   * leaving.
   */
  async function open(path: string, options: BrowserContextOptions & { beside?: Page } = {}) {
    const { beside, ...given } = options
    const context = beside?.context() ?? (await browser.newContext({ baseURL: app.origin, ...given }))
    if (!beside) await giveCookies(context, ada, app)
    const page = await context.newPage()
    page.on("dialog", (dialog) => void dialog.accept())
    await page.goto(path)
    if (options.javaScriptEnabled !== false) await takenOver(page)
    return page
  }

  async function list(): Promise<FileSummary[]> {
    const { files } = (await (await ada("/api/files?limit=100")).json()) as { files: FileSummary[] }
    return files
  }

  /** Stores a file without the browser. */
  async function add(name: string, content: string | Buffer = "…"): Promise<FileSummary> {
    const response = await ada(`/api/files?name=${encodeURIComponent(name)}`, {
      method: "POST",
      body: typeof content === "string" ? content : new Uint8Array(content),
    })
    const { files } = (await response.json()) as { files: [FileSummary] }
    return files[0]
  }

  return {
    app,
    sql,
    ada,
    browser,
    open,
    list,
    add,
    /** Bytes: those stored and those that running uploads reserve. */
    async usage() {
      const [row] = await sql`select used::int, reserved::int from file_usage`
      return row && { ...row }
    },
    /** Closes every page and removes every file and upload. */
    async clear() {
      for (const context of browser.contexts()) await context.close()
      // The server still processes what they had sent, which would count afterwards. That
      // processing has begun when a later upload is stored, and ended when no request reserves
      // space.
      await ada("/api/files?name=later.txt", { method: "POST", body: "1" })
      await expect
        .poll(() => sql`select _id from uploads where length is null`, { message: "running uploads" })
        .toEqual([])
      await sql`delete from uploads`
      await sql`delete from files`
      await sql`update file_usage set used = 0, reserved = 0`
    },
    async close() {
      await browser.close()
      await sql.end()
      await app.stop()
    },
  }
}

/** Through the button and the browser's own dialog. */
export async function choose(
  page: Page,
  files: Record<string, string> | string | string[],
  button = "Upload",
) {
  const chooser = page.waitForEvent("filechooser")
  await page.getByRole("button", { name: button, exact: true }).click()
  const given = typeof files === "string" || Array.isArray(files) ? files : asFiles(files)
  await (await chooser).setFiles(given)
}

export function asFiles(files: Record<string, string>) {
  return Object.entries(files).map(([name, content]) => ({
    name,
    mimeType: "application/octet-stream",
    buffer: Buffer.from(content),
  }))
}

export function link(page: Page, name: string) {
  return page.getByRole("link", { name, exact: true })
}

export function focused(page: Page) {
  return page.evaluate(() => document.activeElement?.textContent)
}

/** Chooses from the menu of a file in the list, whose button has a name in the page's language. */
export async function chooseFor(
  page: Page,
  fileName: string,
  act: string,
  button = `Actions for ${fileName}`,
) {
  await page.getByRole("button", { name: button }).click()
  await page.getByRole("menuitem", { name: act, exact: true }).click()
}
