import type { Page } from "playwright-core"
import { afterEach, describe, expect, it } from "vitest"
import { inAll, sample } from "../support/all.ts"
import { faultsInEveryLook } from "../support/axe.ts"
import { arrivedAt, takenOver } from "../support/browser.ts"
import { focused, openFilesBrowser } from "../support/files-browser.ts"
import { postJson } from "../support/people.ts"
import { withResource } from "../support/with-resource.ts"

const tideline = withResource(() => openFilesBrowser({}))
afterEach(() => tideline.clear())

describe("the command palette", () => {
  it("opens a page by keyboard alone, and returns the focus", async () => {
    const page = await tideline.open("/dashboard")
    await page.getByRole("link", { name: "Home" }).focus()
    await page.keyboard.press("ControlOrMeta+K")
    await palette(page).waitFor()
    await page.keyboard.press("Escape")
    await palette(page).waitFor({ state: "detached" })
    expect(await focused(page)).toBe("Home")

    await page.keyboard.press("ControlOrMeta+K")
    await field(page).fill("tras")
    await option(page, "Trash").waitFor()
    await page.keyboard.press("Enter")
    await heading(page, "Trash")
    expect(await page.evaluate(() => document.activeElement?.id)).toBe("main")
  })

  inAll("opens again while it fades out", async () => {
    const page = await tideline.open("/dashboard")
    await page.keyboard.press("ControlOrMeta+K")
    await field(page).fill("tras")
    const devTools = await page.context().newCDPSession(page)
    await devTools.send("Animation.enable")
    await devTools.send("Animation.setPlaybackRate", { playbackRate: 0.001 })
    await page.keyboard.press("Escape")
    await palette(page).and(page.locator("[data-closed]")).waitFor()
    await page.keyboard.press("ControlOrMeta+K")
    await palette(page).and(page.locator("[data-open]")).waitFor()
  })

  it("finds conversations and files by their words, and opens them", async () => {
    await tideline.add("soundings.txt", "four fathoms")
    const made = await postJson(tideline.ada, "/api/chat/threads", { title: "Soundings of the bay" })
    const { thread } = (await made.json()) as { thread: { _id: string } }
    const page = await tideline.open("/dashboard")
    await page.getByRole("button", { name: "Search" }).click()
    await field(page).fill("soundings")
    await option(page, "Soundings of the bay").click()
    await arrivedAt(page, new RegExp(`/dashboard/chat/${thread._id}$`))

    await page.keyboard.press("ControlOrMeta+K")
    await field(page).fill("soundings")
    await option(page, "soundings.txt").click()
    await page.getByRole("dialog", { name: "soundings.txt" }).getByText("four fathoms").waitFor()
  })

  inAll("keeps the focus while a page that was requested earlier arrives", async () => {
    const made = await postJson(tideline.ada, "/api/chat/threads", { title: "Currents" })
    const { thread } = (await made.json()) as { thread: { _id: string } }
    const page = await tideline.open("/dashboard")
    const gate = Promise.withResolvers<void>()
    await page.route(`**/${thread._id}.data*`, async (route) => {
      await gate.promise
      await route.continue()
    })
    await page.getByRole("link", { name: "Currents" }).first().click()
    await page.keyboard.press("ControlOrMeta+K")
    await field(page).fill("tra")
    gate.resolve()
    await page.locator("main").getByLabel("Your question").waitFor()
    await page.keyboard.type("sh")
    expect(await field(page).inputValue()).toBe("trash")
    await page.keyboard.press("Escape")
    await palette(page).waitFor({ state: "detached" })
    expect(await page.getByLabel("Your question").inputValue()).toBe("")
  })

  it("keeps what is typed before it has loaded", async () => {
    const page = await tideline.open("/dashboard")
    const gate = Promise.withResolvers<void>()
    await page.route("**/assets/palette-*", async (route) => {
      await gate.promise
      await route.continue()
    })
    const asked = page.waitForRequest("**/assets/palette-*")
    await page.keyboard.press("ControlOrMeta+K")
    await asked
    await page.keyboard.type("g c u")
    gate.resolve()
    await field(page).waitFor()
    expect(await field(page).inputValue()).toBe("g c u")
    expect(new URL(page.url()).pathname).toBe("/dashboard")
  })

  inAll("says when nothing is found, and then offers to ask the chat", async () => {
    const page = await tideline.open("/dashboard")
    await page.keyboard.press("ControlOrMeta+K")
    await field(page).fill("when is high water")
    await option(page, "Ask the chat “when is high water”").waitFor()
    expect(await palette(page).getByRole("option").count()).toBe(1)
    await palette(page).getByText("Nothing found for “when is high water”").waitFor()
    // A search that found nothing is not sent by mistake.
    await page.keyboard.press("Enter")
    expect(await palette(page).locator("[data-highlighted]").count()).toBe(0)
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("Enter")
    await page.waitForURL(/\/dashboard\/chat\/[0-9a-f-]{36}$/)
  })

  inAll("reports search errors, and keeps its other commands usable", async () => {
    const page = await tideline.open("/dashboard")
    await page.route("**/api/files?*", (route) => route.abort())
    await page.keyboard.press("ControlOrMeta+K")
    await field(page).fill("account")
    await palette(page).getByText("The server can't be reached.").waitFor()
    await page.keyboard.press("Enter")
    await heading(page, "Account")
  })

  inAll("changes the colours", async () => {
    const page = await tideline.open("/dashboard", { colorScheme: "light" })
    await page.keyboard.press("ControlOrMeta+K")
    await field(page).fill("dark")
    await option(page, "Use dark colours").click()
    await page.locator("html[data-theme=dark]").waitFor()
  })

  inAll("signs out", async () => {
    const page = await tideline.open("/dashboard")
    await page.keyboard.press("ControlOrMeta+K")
    await field(page).fill("sign out")
    await option(page, "Sign out").waitFor()
    const asked = page.waitForRequest("**/sign-out")
    // The other tests continue with this session.
    await page.route("**/sign-out", (route) => route.fulfill({ body: "out" }))
    await page.keyboard.press("Enter")
    expect((await asked).method()).toBe("POST")
  })

  it("works by touch, and fits a phone", async () => {
    const page = await tideline.open("/dashboard", {
      viewport: { width: 390, height: 844 },
      hasTouch: true,
    })
    await page.getByRole("button", { name: "Search" }).tap()
    const heights = await palette(page)
      .getByRole("option")
      .evaluateAll((all) => all.map((one) => one.getBoundingClientRect().height))
    expect(Math.min(...heights)).toBeGreaterThanOrEqual(44)
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
  })
})

describe("keyboard shortcuts", () => {
  it("open every page", async () => {
    const page = await tideline.open("/dashboard")
    for (const [letter, title] of [
      ["f", "Files"],
      ["t", "Trash"],
      ["a", "Account"],
      ["h", "Welcome back, Ada"],
      ["c", "New conversation"],
    ] as const) {
      await page.keyboard.press("g")
      await page.keyboard.press(letter)
      await heading(page, title)
    }
  })

  inAll("choose files to upload, from any page", async () => {
    const page = await tideline.open("/dashboard/account")
    const chooser = page.waitForEvent("filechooser")
    await heading(page, "Account")
    await page.keyboard.press("u")
    const files = { name: "tides.txt", mimeType: "text/plain", buffer: Buffer.from("high water 06:12") }
    await (await chooser).setFiles(files)
    await heading(page, "Files")
    await page.getByRole("link", { name: "tides.txt", exact: true }).waitFor()
  })

  inAll("are listed in a sheet, where single-letter shortcuts can be switched off", async () => {
    const page = await tideline.open("/dashboard")
    await page.keyboard.press("?")
    const sheet = page.getByRole("dialog", { name: "Keyboard shortcuts" })
    await sheet.getByRole("definition").getByText("F2").waitFor()
    await sheet.getByRole("checkbox", { name: "Use single-letter shortcuts" }).uncheck()
    await page.keyboard.press("Escape")
    await sheet.waitFor({ state: "detached" })

    await page.keyboard.press("?")
    await page.keyboard.press("ControlOrMeta+K")
    await palette(page).waitFor()
    expect(await sheet.count()).toBe(0)
  })

  inAll("type letters in text fields", async () => {
    const page = await tideline.open("/dashboard/account")
    const name = page.getByRole("textbox", { name: "Name", exact: true })
    await name.fill("")
    await name.pressSequentially("gh?u")
    expect(await name.inputValue()).toBe("gh?u")
    expect(new URL(page.url()).pathname).toBe("/dashboard/account")
    expect(await page.getByRole("dialog").count()).toBe(0)
  })
})

describe("a page that is loading", () => {
  it("shows a placeholder of its size, then the page", async () => {
    await tideline.add("tides.txt")
    const page = await tideline.open("/dashboard")
    const gate = Promise.withResolvers<void>()
    await page.route("**/dashboard/files.data*", async (route) => {
      await gate.promise
      await route.continue()
    })
    await page.keyboard.press("g")
    await page.keyboard.press("f")
    const skeleton = page.locator("[data-skeleton]")
    await skeleton.waitFor()
    expect(await page.locator("main").getAttribute("aria-busy")).toBe("true")
    const held = await placesOf(page, ["h1", "div:has(> div.h-15)"])
    gate.resolve()
    await page.getByRole("link", { name: "tides.txt", exact: true }).waitFor()
    expect(await skeleton.count()).toBe(0)
    const shown = await placesOf(page, ["h1", "ul[aria-label='Your files']"])
    expect(held).toEqual(shown)
  })
})

describe("a person whose storage is full", () => {
  inAll("is told on the home page and the files page, and what to do", async () => {
    const page = await tideline.open("/dashboard")
    await tideline.sql`update file_usage set used = 5000000000`
    for (const path of ["/dashboard", "/dashboard/files"]) {
      await page.goto(path)
      await page.getByText("Your storage is full").waitFor()
    }
  })
})

describe("a page that fails to load", () => {
  inAll("shows the error inside the shell, and can be retried", async () => {
    const page = await tideline.open("/dashboard/files")
    await page.route("**/dashboard.data*", (route) => route.fulfill({ status: 502, body: "no" }))
    await page.getByRole("link", { name: "Home" }).click()
    await heading(page, "This page couldn't be loaded")
    await page.unroute("**/dashboard.data*")
    await page.getByRole("link", { name: "Try again" }).click()
    await heading(page, "Welcome back, Ada")
  })

  inAll("stays on the screen when its server is briefly unavailable during a reload", async () => {
    const page = await tideline.open("/dashboard")
    await page.evaluate(() => document.querySelector("h1")?.setAttribute("data-kept", ""))
    let lost = 0
    await page.route("**/dashboard.data*", (route) => (lost++ < 3 ? route.abort() : route.continue()))
    const again = page.waitForResponse("**/dashboard.data*")
    await page.getByRole("link", { name: "Home", exact: true }).click()
    expect((await again).status()).toBe(200)
    expect(lost).toBeGreaterThan(3)
    expect(await page.locator("h1[data-kept]").count()).toBe(1)
  })

  // The server uses React Router's internal headers here, which are undocumented.
  it("is replaced by the page that says why when maintenance begins", async () => {
    const page = await tideline.open("/dashboard")
    const status = () => fetch(tideline.app.origin).then((response) => response.status)
    await tideline.sql`insert into maintenance default values`
    await expect.poll(status).toBe(503)
    await page.getByRole("link", { name: "Files", exact: true }).click()
    await heading(page, "Back soon")
    expect(new URL(page.url()).pathname).toBe("/dashboard/files")
    await tideline.sql`delete from maintenance`
    await expect.poll(status).toBe(200)
  })

  inAll("opens automatically when the connection is back", async () => {
    const page = await tideline.open("/dashboard")
    await page.getByRole("link", { name: "Files", exact: true }).click()
    await heading(page, "Files")
    await page.context().setOffline(true)
    await page.getByRole("link", { name: "Home" }).click()
    await heading(page, "You are offline")
    await page.context().setOffline(false)
    await heading(page, "Welcome back, Ada")
  })

  it('shows "not found" inside the shell, with status 404', async () => {
    const page = await tideline.open("/dashboard/files")
    const response = await page.goto("/dashboard/nowhere")
    expect(response?.status()).toBe(404)
    await heading(page, "Page not found")
    await page.getByRole("navigation", { name: "Dashboard" }).getByRole("link", { name: "Chat" }).waitFor()
  })
})

const pages = [
  "/dashboard",
  "/dashboard/chat",
  "/dashboard/files",
  "/dashboard/files?q=nothing",
  "/dashboard/files/trash",
  "/dashboard/account",
  "/dashboard/nowhere",
]

describe("the transition to another page", () => {
  inAll("can be skipped without an error", async () => {
    const path = "/dashboard/files"
    const page = await tideline.open("/dashboard")
    const errors: string[] = []
    page.on("pageerror", ({ name, message }) => errors.push(`${name}: ${message}`))
    await page.addInitScript(() => {
      addEventListener("pagereveal", (event: Event & { viewTransition?: ViewTransition | null }) => {
        sessionStorage.setItem("skipped", String(Boolean(event.viewTransition)))
        event.viewTransition?.skipTransition()
      })
    })
    await page.evaluate((address) => location.assign(address), path)
    await page.waitForURL(`**${path}`)
    await page.locator("main").waitFor()
    expect(await page.evaluate(() => sessionStorage.getItem("skipped"))).toBe("true")
    expect(errors).toEqual([])
  })

  inAll("can come too late without an error, and hides no other error", async () => {
    const page = await tideline.open("/dashboard")
    const errors: string[] = []
    page.on("pageerror", ({ message }) => errors.push(message))
    // Chromium's words for a page that was shown before its transition was ready.
    await page.evaluate(async () => {
      const late = "Transition was aborted because of invalid state. Page already revealed"
      for (const message of [late, "Something else"])
        void Promise.reject(new DOMException(message, "InvalidStateError"))
      await new Promise((resolve) => setTimeout(resolve))
    })
    await expect.poll(() => errors).toEqual(["Something else"])
  })
})

describe("every page of the dashboard", () => {
  it("has no accessibility violations in light and dark colours", { timeout: 120_000 }, async () => {
    await tideline.add("tides.txt")
    const page = await tideline.open("/dashboard", { reducedMotion: "reduce" })
    const check = async (what: string) => expect(await faultsInEveryLook(page, [1280]), what).toEqual([])
    for (const path of sample(pages, 2)) {
      await page.goto(path)
      await check(path)
    }
    await page.goto("/dashboard")
    await takenOver(page)
    await page.keyboard.press("ControlOrMeta+K")
    await option(page, "Home").waitFor()
    await check("the palette")
    await page.keyboard.press("Escape")
    await palette(page).waitFor({ state: "detached" })
    await page.keyboard.press("?")
    await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor()
    await check("the shortcuts")
  })

  it.each(
    sample(
      [
        ["320 pixels", { width: 320, height: 640 }],
        ["a window of 1280 pixels at twice the size", { width: 640, height: 400 }],
      ],
      2,
    ),
  )("loses nothing in %s", async (_words, viewport) => {
    await tideline.add(`${"f".repeat(120)}.txt`)
    const page = await tideline.open("/dashboard", { viewport })
    for (const path of pages) {
      await page.goto(path)
      expect(await page.evaluate(() => document.documentElement.scrollWidth), path).toBe(viewport.width)
      const last = page.getByRole("main").locator("a:visible, button:visible, input:visible").last()
      await last.focus()
      expect(await isOnTop(last), path).toBe(true)
    }
  })

  it("is sent without style attributes, which a stricter policy would drop", async () => {
    await tideline.add("tides.txt")
    for (const path of pages) {
      const html = await (await tideline.ada(path)).text()
      expect(html, path).toContain("</main>")
      expect(html.replaceAll(/<script.*?<\/script>/gs, ""), path).not.toMatch(/<[^>]* style=/)
    }
  })

  it("shows the current page and selections in forced colours", async () => {
    const page = await tideline.open("/dashboard", { forcedColors: "active" })
    const [current, other] = await Promise.all(
      ["Home", "Files"].map((name) =>
        page
          .getByRole("navigation", { name: "Dashboard" })
          .getByRole("link", { name })
          .evaluate((link) => {
            const { outlineStyle, outlineColor, backgroundColor, color } = getComputedStyle(link)
            return [outlineStyle, outlineColor, backgroundColor, color].join()
          }),
      ),
    )
    expect(current).not.toBe(other)
    await page.keyboard.press("ControlOrMeta+K")
    await option(page, "Home").waitFor()
    const highlighted = palette(page).locator("[data-highlighted]")
    expect(await highlighted.evaluate((one) => getComputedStyle(one).outlineStyle)).toBe("solid")
  })

  it("has no motion for people who prefer reduced motion", async () => {
    const page = await tideline.open("/dashboard", { reducedMotion: "reduce" })
    await page.keyboard.press("ControlOrMeta+K")
    const seconds = await palette(page).evaluate((one) => getComputedStyle(one).transitionDuration)
    expect(Math.max(...seconds.split(", ").map(Number.parseFloat))).toBeLessThan(0.001)
  })
})

function palette(page: Page) {
  return page.getByRole("dialog", { name: "Command palette" })
}

function field(page: Page) {
  return palette(page).getByRole("combobox", { name: "Search or run a command" })
}

function option(page: Page, name: string) {
  return palette(page).getByRole("option", { name })
}

function heading(page: Page, name: string) {
  return page.getByRole("heading", { level: 1, name, exact: true }).waitFor()
}

/** The position of the first match of each: left and top. */
function placesOf(page: Page, selectors: string[]) {
  return page.evaluate(
    (wanted) =>
      wanted.map((selector) => {
        const shown = [...document.querySelectorAll(`main ${selector}`)].find((one) => one.checkVisibility())
        const { left, top } = shown?.getBoundingClientRect() ?? new DOMRect()
        return [left, top].map(Math.round)
      }),
    selectors,
  )
}

/** Whether a click in its middle reaches it, and not something that covers it. */
function isOnTop(target: ReturnType<Page["locator"]>) {
  return target.evaluate((element) => {
    const { left, top, width, height } = element.getBoundingClientRect()
    const hit = document.elementFromPoint(left + width / 2, top + height / 2)
    return hit !== null && (element.contains(hit) || hit.contains(element))
  })
}
