import { readFileSync } from "node:fs"
import type { Page } from "playwright-core"
import { describe, afterEach, beforeAll, expect, it, vi } from "vitest"
import { ALL, inAll } from "../support/all.ts"
import { faultsInEveryLook } from "../support/axe.ts"
import {
  asFiles,
  choose,
  focused,
  link,
  openFilesBrowser,
  type FilesBrowser,
  chooseFor,
} from "../support/files-browser.ts"
import { sparseFile } from "../support/sparse-file.ts"
import { withResource } from "../support/with-resource.ts"

// A browser, a server and a database share the machine with other tests.
vi.setConfig({ testTimeout: 90_000 })

const files = withResource(() => openFilesBrowser({ FILES_MAX_SIZE: "1MB" }))
let open: FilesBrowser["open"]
beforeAll(async () => {
  open = files.open
})
afterEach(() => files.clear())

describe("the files page", () => {
  it("renames and deletes by keyboard, and keeps its position", async () => {
    const page = await open("/dashboard/files")
    await choose(page, { "below.txt": "1" })
    await link(page, "below.txt").waitFor()
    await choose(page, { "draft.txt": "2" })
    await link(page, "draft.txt").focus()

    await page.keyboard.press("F2")
    await page.keyboard.type("given up")
    await page.keyboard.press("Escape")
    expect(await focused(page)).toBe("draft.txt")

    await page.keyboard.press("F2")
    await page.keyboard.type("final")
    await page.keyboard.press("Enter")
    await link(page, "final.txt").waitFor()
    expect(await focused(page)).toBe("final.txt")

    await page.keyboard.press("F2")
    await page.keyboard.type("below")
    await page.keyboard.press("Enter")
    await page.getByText("You already have a file called below.txt.").waitFor()
    await link(page, "final.txt").waitFor()

    await page.keyboard.press("Delete")
    await link(page, "final.txt").waitFor({ state: "detached" })
    await expect.poll(() => focused(page)).toBe("below.txt")
  })

  it("keeps the search in the URL, also when going back", async () => {
    const page = await open("/dashboard/files")
    await choose(page, { "tides.txt": "1", "winds.txt": "2" })
    await link(page, "winds.txt").waitFor()
    const search = page.getByRole("searchbox")
    await search.pressSequentially("tid")
    await link(page, "winds.txt").waitFor({ state: "detached" })
    expect(new URL(page.url()).searchParams.get("q")).toBe("tid")
    await search.pressSequentially("al")
    await page.getByText("No file names match “tidal”").waitFor()
    await page.goBack()
    await link(page, "winds.txt").waitFor()
    expect(await search.inputValue()).toBe("")
  })

  it("uploads, finds, downloads and deletes without JavaScript", async () => {
    const page = await open("/dashboard/files", { javaScriptEnabled: false })
    const idempotencyKey = await page.locator("input[name=idempotencyKey]").inputValue()
    await page.setInputFiles("input[name=file]", asFiles({ "plain.txt": "sent by a form", "other.txt": "2" }))
    await page.getByRole("button", { name: "Upload", exact: true }).click()
    await link(page, "other.txt").waitFor()
    // As a second press of the button does.
    const again = new FormData()
    again.append("idempotencyKey", idempotencyKey)
    again.append("file", new Blob(["sent by a form"]), "plain.txt")
    again.append("file", new Blob(["2"]), "other.txt")
    const answer = await files.ada("/dashboard/files", { method: "POST", body: again, redirect: "manual" })
    expect(answer.status).toBe(302)
    expect(await files.list()).toHaveLength(2)
    await page.getByRole("searchbox").fill("plain")
    await page.getByRole("button", { name: "Search", exact: true }).click()
    await link(page, "plain.txt").waitFor()
    expect(await link(page, "other.txt").count()).toBe(0)
    const download = page.waitForEvent("download")
    await page.getByRole("link", { name: "Download plain.txt" }).click()
    expect((await download).suggestedFilename()).toBe("plain.txt")
    await page.getByRole("button", { name: "Delete plain.txt" }).click()
    await page.getByText("No file names match “plain”").waitFor()
    await page.goto("/dashboard/files")
    await page.setInputFiles("input[name=file]", sparseFile("film.mov", 1_000_001))
    await page.getByRole("button", { name: "Upload", exact: true }).click()
    await page.getByText("film.mov is too large. A file can be 1 MB at most.").waitFor()
  })
})

describe("the files page in German", () => {
  inAll("shows everything in German, with German sizes", async () => {
    await files.add("ebbe.txt", "x".repeat(1500))
    const page = await open("/dashboard/files", { locale: "de-DE" })
    await page.getByRole("heading", { name: "Dateien" }).waitFor()
    await page.getByText("1,5 kB", { exact: true }).waitFor()
    await choose(page, sparseFile("flut.txt", 1_000_001), "Hochladen")
    await page.getByText("Sie ist zu groß. Eine Datei darf höchstens 1 MB groß sein.").waitFor()
    await isLive(page)
    await chooseFor(page, "ebbe.txt", "Löschen", "Aktionen für ebbe.txt")
    await page.getByText("ebbe.txt ist im Papierkorb").waitFor()
    await page.goto("/dashboard/files/trash")
    await page.getByText("noch 30 Tage").waitFor()
  })
})

describe("the trash", () => {
  it("takes a file at the press of a button, and Undo restores it under the same URL", async () => {
    const { _id } = await files.add("tides.txt")
    const page = await open("/dashboard/files")
    const other = await open("/dashboard/files")
    await link(other, "tides.txt").waitFor()
    await isLive(page)
    await chooseFor(page, "tides.txt", "Delete")
    await link(other, "tides.txt").waitFor({ state: "detached" })
    expect((await files.ada(`/api/files/${_id}`)).status).toBe(404)
    await page.getByText("tides.txt is in the trash").waitFor()
    await page.getByRole("button", { name: "Undo" }).click()
    await link(page, "tides.txt").waitFor()
    await link(other, "tides.txt").waitFor()
    expect((await files.list()).map((file) => file._id)).toEqual([_id])
  })

  inAll(
    "restores files, deletes them permanently after a confirmation, and says that they count against the quota",
    async () => {
      for (const name of ["one.txt", "two.txt", "three.txt"]) await files.add(name, "x".repeat(1000))
      await files.sql`update files set trashed = true, trashed_at = ${Date.now()}`
      const page = await open("/dashboard/files/trash")
      await isLive(page)
      await page.getByText("Until then they count towards your storage: 3 kB of").waitFor()
      const inTrash = page.getByRole("list", { name: "Files in the trash" })

      await page.getByRole("button", { name: "Restore one.txt" }).click()
      await page.getByText("one.txt was restored").waitFor()
      expect((await files.list()).map(({ fileName }) => fileName)).toEqual(["one.txt"])

      await page.getByRole("button", { name: "Delete forever: two.txt" }).click()
      await page.getByRole("heading", { name: "Delete two.txt forever?" }).waitFor()
      await page.getByRole("button", { name: "Delete forever", exact: true }).click()
      await expect.poll(() => inTrash.getByRole("listitem").count()).toBe(1)
      await expect.poll(() => files.usage()).toEqual({ used: 2000, reserved: 0 })

      await page.getByRole("button", { name: "Empty the trash" }).click()
      await page.getByRole("dialog").getByRole("button", { name: "Empty the trash" }).click()
      await page.getByText("The trash is empty").waitFor()
      await expect.poll(() => files.usage()).toEqual({ used: 1000, reserved: 0 })
    },
  )

  inAll("works without JavaScript", async () => {
    await files.add("tides.txt")
    const page = await open("/dashboard/files", { javaScriptEnabled: false })
    await page.getByRole("button", { name: "Delete tides.txt" }).click()
    await page.getByText("No files yet").waitFor()
    await page.getByRole("link", { name: "Trash", exact: true }).click()
    await page.getByRole("button", { name: "Restore tides.txt" }).click()
    await page.getByText("The trash is empty").waitFor()
    expect(await files.list()).toHaveLength(1)
  })
})

describe("several files", () => {
  it("are selected by mouse and by keyboard, as in any file manager", async () => {
    for (const name of ["e", "d", "c", "b", "a"]) await files.add(`${name}.txt`)
    const page = await open("/dashboard/files")
    const row = (name: string) => page.getByRole("listitem").filter({ has: link(page, name) })
    const selected = () =>
      page
        .getByRole("list", { name: "Your files" })
        .getByRole("checkbox", { checked: true })
        .evaluateAll((boxes) =>
          boxes
            .map((box) => box.getAttribute("aria-label")?.replace("Select ", "").replace(".txt", ""))
            .join(""),
        )
    await row("b.txt").click()
    expect(await selected()).toBe("b")
    await row("d.txt").click({ modifiers: ["Shift"] })
    expect(await selected()).toBe("bcd")
    await row("a.txt").click({ modifiers: ["ControlOrMeta"] })
    expect(await selected()).toBe("abcd")
    await page.getByRole("checkbox", { name: "Select c.txt" }).click()
    expect(await selected()).toBe("abd")
    await page.keyboard.press("Escape")
    expect(await selected()).toBe("")
    await page.keyboard.press("ControlOrMeta+a")
    expect(await selected()).toBe("abcde")
    await page.getByRole("button", { name: "Clear selection" }).click()

    await link(page, "b.txt").focus()
    await page.keyboard.press("Space")
    await page.keyboard.press("Shift+ArrowDown")
    await page.keyboard.press("Shift+ArrowDown")
    expect(await selected()).toBe("bcd")
    await page.keyboard.press("Shift+ArrowUp")
    expect(await selected()).toBe("bc")
    await page.getByRole("toolbar", { name: "Selected files" }).getByText("2 selected").waitFor()
  })

  inAll("are moved to the trash together and restored together", async () => {
    for (const name of ["c", "b", "a"]) await files.add(`${name}.txt`)
    const page = await open("/dashboard/files")
    await isLive(page)
    await link(page, "a.txt").focus()
    await page.keyboard.press("Space")
    await page.keyboard.press("Shift+ArrowDown")
    await page.keyboard.press("Delete")
    await page.getByText("2 files are in the trash").waitFor()
    await expect.poll(() => focused(page)).toBe("c.txt")
    expect(await files.list()).toHaveLength(1)
    await page.getByRole("button", { name: "Undo" }).click()
    await link(page, "a.txt").waitFor()
    await link(page, "b.txt").waitFor()
  })

  inAll("are downloaded as one zip", async () => {
    for (const name of ["tides", "winds", "left out"]) await files.add(`${name}.txt`, `what is in ${name}`)
    const page = await open("/dashboard/files")
    await page.getByRole("checkbox", { name: "Select tides.txt" }).click()
    await page.getByRole("checkbox", { name: "Select winds.txt" }).click()
    const saved = page.waitForEvent("download")
    await page.getByRole("button", { name: "Download as zip" }).click()
    const download = await saved
    expect(download.suggestedFilename()).toMatch(/\.zip$/)
    const bytes = readFileSync(await download.path())
    expect(bytes.subarray(0, 4).toString("latin1")).toBe("PK\x03\x04")
    for (const held of ["tides.txt", "winds.txt", "what is in tides", "what is in winds"])
      expect(bytes.includes(held), held).toBe(true)
    expect(bytes.includes("left out")).toBe(false)
  })
})

describe("the list of files", () => {
  it("has a row of heads that sort, and a checkbox that selects all and then none", async () => {
    for (const name of ["b.txt", "a.txt", "c.txt"]) await files.add(name)
    const page = await open("/dashboard/files")
    await page.getByRole("link", { name: "Name", exact: true }).click()
    await expect.poll(() => namesIn(page)).toEqual(["a.txt", "b.txt", "c.txt"])
    await page.getByRole("link", { name: "Name", exact: true }).click()
    await expect.poll(() => namesIn(page)).toEqual(["c.txt", "b.txt", "a.txt"])
    await page.getByRole("checkbox", { name: "Select b.txt" }).click()
    await page.getByRole("toolbar").getByRole("button", { name: "Select all 3" }).waitFor()
    await page.getByRole("checkbox", { name: "Select all" }).click()
    await page.getByRole("toolbar").getByText("3 selected").waitFor()
    await page.getByRole("checkbox", { name: "Select all" }).click()
    await page.getByRole("toolbar").waitFor({ state: "detached" })
  })

  it("shows the actions of a row under the pointer, with the focus, or selected", async () => {
    await files.add("a.txt")
    const page = await open("/dashboard/files")
    const actions = page.getByRole("button", { name: "Actions for a.txt" })
    const opacity = () => actions.evaluate((button) => getComputedStyle(button).opacity)
    await page.mouse.move(0, 0)
    expect(await opacity()).toBe("0")
    await link(page, "a.txt").hover()
    await expect.poll(opacity).toBe("1")
    await page.mouse.move(0, 0)
    await link(page, "a.txt").focus()
    await expect.poll(opacity).toBe("1")
  })

  it("cuts a long name in its middle, and shows its end", async () => {
    const name = `minutes of the harbour committee ${"and what was left open ".repeat(6)}december.txt`
    await files.add(name)
    const page = await open("/dashboard/files", { viewport: { width: 390, height: 800 } })
    await link(page, name).waitFor()
    const end = page.getByText("december.txt", { exact: true })
    const box = await end.boundingBox()
    expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThan(390)
  })
})

describe("a shared file", () => {
  it("opens without an account, counts downloads, and stops working when its link is revoked", async () => {
    await files.add("tides.txt", "high water 06:12")
    const page = await open("/dashboard/files", { permissions: ["clipboard-read", "clipboard-write"] })
    await isLive(page)
    await chooseFor(page, "tides.txt", "Share")
    await page.getByLabel("Download limit").fill("5")
    await page.getByRole("button", { name: "Create link" }).click()
    await page.getByRole("button", { name: "Copy", exact: true }).click()
    await page.getByRole("button", { name: "Copied", exact: true }).waitFor()
    const address = await page.evaluate(() => navigator.clipboard.readText())
    expect(address).toBe(await page.getByLabel("Link", { exact: true }).inputValue())
    await page.getByText("0 of 5 downloads").waitFor()

    const visitor = await (await files.browser.newContext()).newPage()
    await visitor.goto(address)
    await visitor.getByText("tides.txt").first().waitFor()
    const saved = visitor.waitForEvent("download")
    await visitor
      .getByRole("link", { name: /Download/ })
      .first()
      .click()
    expect(readFileSync(await (await saved).path(), "utf8")).toBe("high water 06:12")
    await page.getByText("1 of 5 downloads").waitFor()

    await page.getByRole("button", { name: /^Revoke the link/ }).click()
    await page.getByText("1 of 5 downloads").waitFor({ state: "detached" })
    // The page hides it before the server has responded.
    await expect.poll(async () => (await visitor.goto(address))?.status()).toBe(404)
  })

  inAll("asks for its password", async () => {
    await files.add("tides.txt", "high water 06:12")
    const page = await open("/dashboard/files")
    await chooseFor(page, "tides.txt", "Share")
    await page.getByLabel("Password").fill("low water")
    await page.getByRole("button", { name: "Create link" }).click()
    const address = await page.getByLabel("Link", { exact: true }).inputValue()
    const visitor = await (await files.browser.newContext()).newPage()
    await visitor.goto(address)
    expect(await visitor.getByText("tides.txt").count()).toBe(0)
    await visitor.getByLabel("Password").fill("low water")
    await visitor.keyboard.press("Enter")
    await visitor.getByText("tides.txt").first().waitFor()
  })
})

describe("a long list", () => {
  it("is rendered in part, loads more as one scrolls, and is restored on return", async () => {
    await many(600)
    const page = await open("/dashboard/files")
    await isLive(page)
    expect(await page.locator("[data-file]").count()).toBeLessThan(60)
    await scrollTo(page, "file 0001.txt", 599)
    await scrollTo(page, "file 0350.txt", 250)
    const at = await restingPlace(page)
    await page.getByRole("navigation", { name: "Dashboard" }).getByRole("link", { name: "Home" }).click()
    await page.waitForURL("**/dashboard")
    await page.goBack()
    await link(page, "file 0350.txt").waitFor()
    // Within the height of one row.
    expect(Math.abs((await restingPlace(page)) - at)).toBeLessThan(60)
  })

  inAll("is live at every scroll position", async () => {
    await many(500)
    const page = await open("/dashboard/files")
    await isLive(page)
    await scrollTo(page, "file 0250.txt", 250)
    await restingPlace(page)
    await files.sql`update files set file_name = 'renamed elsewhere.txt' where file_name = 'file 0250.txt'`
    await link(page, "renamed elsewhere.txt").waitFor()
    await files.sql`update files set trashed = true, trashed_at = 1 where file_name = 'file 0251.txt'`
    await link(page, "file 0251.txt").waitFor({ state: "detached" })
  })

  inAll("follows changes to its oldest files when it is sorted differently too", async () => {
    await many(300)
    const page = await open("/dashboard/files?sort=oldest")
    await isLive(page)
    await files.sql`update files set file_name = 'renamed elsewhere.txt' where file_name = 'file 0002.txt'`
    await link(page, "renamed elsewhere.txt").waitFor()
    await files.sql`update files set trashed = true, trashed_at = 1 where file_name = 'file 0003.txt'`
    await link(page, "file 0003.txt").waitFor({ state: "detached" })
    await files.sql`update files set trashed = false, trashed_at = 0 where file_name = 'file 0003.txt'`
    await link(page, "file 0003.txt").waitFor()
  })

  inAll("is not selected if one gives up while it is counted", async () => {
    await many(450)
    const page = await open("/dashboard/files?sort=name")
    await isLive(page)
    const gate = Promise.withResolvers<void>()
    const isWaiting = Promise.withResolvers<void>()
    await page.route("**/api/files/count?*", async (route) => {
      isWaiting.resolve()
      await gate.promise
      await route.continue()
    })
    await page.keyboard.press("Control+a")
    await isWaiting.promise
    await page.keyboard.press("Escape")
    gate.resolve()
    await scrollTo(page, "file 0450.txt", 450)
    expect(await page.getByText(/\d+ selected/).count()).toBe(0)
  })

  inAll(
    "shows changes beyond its first page immediately in any order, and takes back what is refused",
    async () => {
      await many(300)
      for (const order of ["newest", "name"]) {
        const page = await open(`/dashboard/files?sort=${order}`)
        await isLive(page)
        const row = order === "newest" ? 60 : 240
        const [gone, renamed, taken] = [row, row + 1, row + 2].map(
          (n) => `file ${String(n).padStart(4, "0")}`,
        )
        await scrollTo(page, `${renamed}.txt`, 240)
        await link(page, `${gone}.txt`).focus()
        await page.keyboard.press("Delete")
        await link(page, `${gone}.txt`).waitFor({ state: "detached" })
        await page.getByText(`${gone}.txt is in the trash`).waitFor()
        await link(page, `${renamed}.txt`).focus()
        await page.keyboard.press("F2")
        await page.keyboard.type(`${taken}`)
        await page.keyboard.press("Enter")
        await page.getByText(`You already have a file called ${taken}.txt.`).waitFor()
        await link(page, `${renamed}.txt`).waitFor()
        expect(await link(page, `${gone}.txt`).count()).toBe(0)
      }
    },
  )

  inAll("is selected whole, however much of it has been loaded", async () => {
    await many(349)
    for (const order of ["newest", "largest"]) {
      const page = await open(`/dashboard/files?sort=${order}`)
      await isLive(page)
      await page.keyboard.press("Control+a")
      await page.getByRole("button", { name: "Select all 350", exact: true }).waitFor()
      await page.keyboard.press("Control+a")
      await page.getByText("All 350 selected", { exact: true }).waitFor()
    }
  })

  inAll("keeps the kind and the order in the URL", async () => {
    await files.add("harbour.svg", "<svg xmlns='http://www.w3.org/2000/svg'></svg>")
    await files.add("b.txt", "much more")
    await files.add("a.txt", "less")
    const page = await open("/dashboard/files")
    const names = () => page.locator("[data-file]").allInnerTexts()
    await page.getByLabel("Order").selectOption("Name, A to Z")
    await expect.poll(names).toEqual(["a.txt", "b.txt", "harbour.svg"])
    await page.getByLabel("Kind").selectOption("Text and code")
    await expect.poll(names).toEqual(["a.txt", "b.txt"])
    expect(new URL(page.url()).search).toBe("?q=&type=text&sort=name")
    await page.getByLabel("Kind").selectOption("Videos")
    await page.getByText("You have no videos").waitFor()
    await page.getByRole("link", { name: "Show all files" }).click()
    await expect.poll(names).toEqual(["a.txt", "b.txt", "harbour.svg"])
    expect(await page.getByLabel("Kind").inputValue()).toBe("")

    await page.getByLabel("Order").selectOption("Largest first")
    await expect.poll(names).toEqual(["harbour.svg", "b.txt", "a.txt"])
    await files.add("c.txt", "of a size between")
    await expect.poll(names).toEqual(["harbour.svg", "c.txt", "b.txt", "a.txt"])
  })

  it("is sent without style attributes, which a stricter policy would drop", async () => {
    await many(5)
    for (const path of ["/dashboard/files", "/dashboard/files/trash"]) {
      const page = await (await files.ada(path)).text()
      const main = page.slice(page.indexOf("<main"), page.indexOf("</main>"))
      expect(main).not.toMatch(/<[^>]* style=/)
    }
  })
})

describe("a lost connection", () => {
  it("leaves the list unchanged, also right after a change, and the figures update once it is back", async () => {
    await files.add("tides.txt", "x".repeat(1000))
    const page = await open("/dashboard/files")
    await isLive(page)
    await files.add("winds.txt", "x".repeat(1000))
    await link(page, "winds.txt").waitFor()
    await page.context().setOffline(true)
    // Past the moment at which the figures would have been requested.
    await restingPlace(page)
    await restingPlace(page)
    await link(page, "winds.txt").waitFor()
    await page.context().setOffline(false)
    await page.getByText("2 kB of").waitFor()
  })
})

describe("a preview", () => {
  it("shows texts and images, and the arrow keys open the next one", async () => {
    await files.add("notes.md", "# High water\n<script>document.title = 1</script>")
    await files.add("picture.svg", "<svg xmlns='http://www.w3.org/2000/svg' width='10' height='10'></svg>")
    await files.add("data.bin", Buffer.from([0, 1, 2, 3]))
    const page = await open("/dashboard/files")
    await link(page, "data.bin").click()
    const dialog = page.getByRole("dialog")
    await dialog.getByText("No preview is available for this type of file.").waitFor()
    await page.keyboard.press("ArrowRight")
    await dialog.getByRole("img", { name: "picture.svg" }).waitFor()
    await page.keyboard.press("ArrowRight")
    await dialog.getByText("<script>document.title = 1</script>").waitFor()
    await page.keyboard.press("ArrowRight")
    await dialog.getByRole("heading", { name: "notes.md" }).waitFor()
    await dialog.getByRole("heading", { name: "High water" }).waitFor()
    await dialog.getByRole("button", { name: "Source" }).click()
    await dialog.getByText("# High water").waitFor()
    await page.keyboard.press("ArrowLeft")
    await dialog.getByRole("img", { name: "picture.svg" }).waitFor()
    await page.keyboard.press("Escape")
    await dialog.waitFor({ state: "detached" })
    expect(await focused(page)).toBe("data.bin")
  })

  it("shows code in colours", async () => {
    await files.add("tide.py", "def depth(hour):\n    return 2.4\n")
    const page = await open("/dashboard/files?type=text")
    await link(page, "tide.py").click()
    await page.getByRole("dialog").locator(".text-code-keyword", { hasText: "return" }).waitFor()
  })

  it("shows a text as spreadsheets write it, in UTF-16", async () => {
    await files.add("table.csv", Buffer.from("\uFEFFHafen\tHöhe\r\nCuxhaven\t3,2 m", "utf16le"))
    const page = await open("/dashboard/files?type=text")
    await link(page, "table.csv").click()
    await page.getByRole("dialog").getByText("Hafen\tHöhe").waitFor()
  })

  it("shows a PDF in a frame of another origin", async () => {
    await files.add("letter.pdf", PDF)
    const page = await open("/dashboard/files")
    // The headless shell has no PDF viewer: what counts is that a frame requests the file, and the
    // response it gets.
    const framed = page.waitForResponse(
      (response) => response.url().includes("/api/files/") && response.frame() !== page.mainFrame(),
    )
    await link(page, "letter.pdf").click()
    expect((await framed).status()).toBe(200)
    const { headers } = await page.evaluate(async () => {
      const address = document.querySelector("iframe[title='letter.pdf']")?.getAttribute("src") ?? ""
      const response = await fetch(address)
      return { headers: Object.fromEntries(response.headers) }
    })
    expect(headers["x-frame-options"]).toBe("SAMEORIGIN")
    expect(headers["content-security-policy"]).toBe(
      "default-src 'none'; frame-ancestors 'self'; sandbox allow-scripts",
    )
  })
})

describe("in light and dark colours, in narrow and wide windows", () => {
  inAll(
    "axe finds no violations whatever is open, and nothing is wider than the window",
    { timeout: 120_000 },
    async () => {
      await files.add("tides.txt", "high water 06:12")
      await files.add(`${"long name ".repeat(20)}.txt`)
      const page = await open("/dashboard/files", { reducedMotion: "reduce" })
      await isLive(page)
      const check = async (what: string) => expect(await faultsInEveryLook(page), what).toEqual([])
      await check("the list")
      await page.getByRole("checkbox", { name: "Select tides.txt" }).focus()
      await page.keyboard.press("Space")
      await page.getByRole("toolbar", { name: "Selected files" }).waitFor()
      await check("a selection")
      await page.keyboard.press("Escape")
      await choose(page, [sparseFile("too large.bin", 1_000_001), sparseFile("small.txt", 1)])
      await page.getByRole("region", { name: "Uploads" }).getByText("1 file uploaded").waitFor()
      await check("uploads")
      await page.getByRole("button", { name: "Close", exact: true }).click()
      await link(page, "tides.txt").click()
      await page.getByRole("dialog").getByText("high water").waitFor()
      await check("a preview")
      await page.getByRole("dialog").getByRole("button", { name: "Share tides.txt" }).click()
      await page.getByRole("button", { name: "Create link" }).click()
      await page.getByLabel("Link", { exact: true }).waitFor()
      await check("a link")
      await page.goto("/dashboard/files?q=nothing")
      await check("nothing found")
      await files.sql`update files set trashed = true, trashed_at = ${Date.now()}`
      await page.goto("/dashboard/files/trash")
      await page.getByRole("list", { name: "Files in the trash" }).waitFor()
      await check("the trash")
    },
  )
})

const PDF = `%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 200]>>endobj
trailer<</Root 1 0 R>>
%%EOF`

/** That many files without their bytes, named by their position in time. */
async function many(count: number) {
  await files.add("first.txt")
  await files.sql`
    insert into files (storage_id, user_id, file_name, mime_type, size)
    select storage_id, user_id, 'file ' || lpad(number::text, 4, '0') || '.txt', mime_type, 1000
    from files, generate_series(1, ${count}::int) number where file_name = 'first.txt'
    order by number`
}

/** Scrolls to a position in the list, or as far as possible, until the file is rendered. */
async function scrollTo(page: Page, name: string, row: number) {
  await expect
    .poll(
      async () => {
        await page.evaluate((top) => window.scrollTo(0, top), row * 60)
        return link(page, name).count()
      },
      { timeout: 20_000 },
    )
    .toBe(1)
}

/** The scroll position of the page in pixels, once it no longer changes. */
function restingPlace(page: Page): Promise<number> {
  return page.evaluate(async () => {
    let at = -1
    while (at !== window.scrollY) {
      at = window.scrollY
      await new Promise((resolve) => setTimeout(resolve, 120))
    }
    return at
  })
}

/** Waits until actions go over the live connection. */
async function isLive(page: Page) {
  await expect
    .poll(() => files.sql`select 1 from devices`.then((found) => found.length), { timeout: 10_000 })
    .toBeGreaterThan(0)
  await page.waitForFunction(() => document.readyState === "complete")
}

describe("a file that contains a script", () => {
  const script = "document.title = origin; fetch('/api/files')"
  it.each(
    [
      ["page.html", `<!doctype html><title>quiet</title><script>${script}</script>`],
      ["drawing.svg", `<svg xmlns="http://www.w3.org/2000/svg"><script>${script}</script></svg>`],
      ["page.xhtml", `<html xmlns="http://www.w3.org/1999/xhtml"><script>${script}</script></html>`],
      [
        "feed.xml",
        `<?xml version="1.0"?><a><script xmlns="http://www.w3.org/1999/xhtml">${script}</script></a>`,
      ],
      ["plain", `<!doctype html><script>${script}</script>`],
    ].slice(0, ALL ? undefined : 2),
  )("runs none of it when it is opened: %s", async (name, content) => {
    const { _id } = await files.add(name, content)
    const page = await open("/dashboard/files")
    const asked: string[] = []
    page.context().on("request", (request) => asked.push(new URL(request.url()).pathname))
    const address = `/api/files/${_id}`
    const saved = page.waitForEvent("download").then(() => "saved")
    const shown = page.goto(address).then(() => "shown")
    // A navigation that becomes a download fails, and the page stays.
    shown.catch(() => {})
    saved.catch(() => {})
    expect(await Promise.any([saved, shown])).toBe(name === "plain" ? "shown" : "saved")
    if (name === "plain") {
      expect(await page.evaluate(() => origin)).toBe("null")
      expect(await page.textContent("body")).toBe(content)
    }
    expect(asked).not.toContain("/api/files")
  })
})

function namesIn(page: Page): Promise<(string | null)[]> {
  return page
    .getByRole("list", { name: "Your files" })
    .getByRole("link")
    .evaluateAll((links) => links.filter((each) => "file" in each.dataset).map((each) => each.textContent))
}
