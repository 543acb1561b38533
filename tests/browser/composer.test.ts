import { randomBytes } from "node:crypto"
import type { Page } from "playwright-core"
import sharp from "sharp"
import { afterEach, describe, expect, it } from "vitest"
import { openChatBrowser } from "../support/chat-browser.ts"
import { withResource } from "../support/with-resource.ts"

const chat = withResource(openChatBrowser)
afterEach(async () => {
  expect(await chat.endPages()).toEqual([])
})

const LONG = `${"A line of the log. ".repeat(2000)}The question is at the end.`

describe("a text that is pasted", () => {
  it("becomes a file beside the message if it is long, whole and in sight", async () => {
    const page = await chat.open("/dashboard/chat")
    await field(page).fill("What is at the end of this?")
    expect(await paste(page, { text: LONG })).toBe(true)
    await attached(page, "38 kB")
    expect(await field(page).inputValue()).toBe("What is at the end of this?")
    await field(page).press("Enter")
    const link = page.getByRole("article", { name: "You" }).getByRole("link", { name: "Pasted text.txt" })
    const address = (await link.getAttribute("href")) ?? ""
    expect(await (await chat.person(address)).text()).toBe(LONG)
  })

  it("returns to the field if it cannot be uploaded", async () => {
    const page = await chat.open("/dashboard/chat")
    await page.route("**/api/files?*", (route) => route.abort())
    await field(page).fill("What is at the end of this?")
    await paste(page, { text: LONG })
    await expect.poll(() => field(page).inputValue()).toBe(`What is at the end of this?\n\n${LONG}`)
    chat.forgive(/ERR_FAILED/)
  })

  it("goes into the field if it is short, also when a picture of it was copied with it", async () => {
    const page = await chat.open("/dashboard/chat")
    expect(await paste(page, { text: "Port\t12.5\nStarboard\t11", image: "image.png" })).toBe(false)
    expect(await paste(page, { text: "port.png", image: "port.png" })).toBe(true)
    await page.getByRole("button", { name: "Remove port.png" }).waitFor()
    expect(await paste(page, { text: "", image: "image.png" })).toBe(true)
    await page.getByRole("button", { name: "Remove image.png" }).waitFor()
  })
})

describe("a text that is typed", () => {
  it("is never cut off: beyond the limit it can be attached", async () => {
    const page = await chat.open("/dashboard/chat")
    await field(page).fill(LONG)
    expect(await field(page).inputValue()).toBe(LONG)
    await page.getByText("Your message has 38,027 characters, and it can have 32,000.").waitFor()
    expect(await page.getByRole("button", { name: "Send" }).isDisabled()).toBe(true)
    await page.getByRole("button", { name: "Attach it as a file" }).click()
    await attached(page, "38 kB")
    expect(await field(page).inputValue()).toBe("")
    expect(await page.getByRole("button", { name: "Send" }).isDisabled()).toBe(false)
  })

  it("is never cut off in a message that is edited either", async () => {
    const page = await chat.open(await chat.thread(2))
    await page.getByRole("article", { name: "You" }).hover()
    await page.getByRole("button", { name: "Edit message" }).click()
    const editor = page.getByLabel("Your edited message")
    await editor.fill(LONG)
    expect(await editor.inputValue()).toBe(LONG)
    await page.getByRole("button", { name: "Attach it as a file" }).click()
    await attached(page, "38 kB")
    await page.getByRole("button", { name: "Send again" }).click()
    await page
      .getByRole("article", { name: "You" })
      .getByRole("link", { name: /^Pasted text/ })
      .waitFor()
  })

  it("is not sent or saved by the Enter of an input method, which Safari marks by its key code alone", async () => {
    const path = await chat.thread(2, { title: "Moorings" })
    const page = await chat.open(path)
    await field(page).fill("とうきょう")
    expect(await pressOfInputMethod(page, "Your question")).toBe(false)
    await page.getByRole("article", { name: "You" }).hover()
    await page.getByRole("button", { name: "Edit message" }).click()
    expect(await pressOfInputMethod(page, "Your edited message")).toBe(false)
    await page.getByRole("button", { name: "Cancel" }).click()
    await page
      .getByRole("navigation", { name: "Conversations" })
      .getByRole("link", { name: "Moorings" })
      .dblclick()
    expect(await pressOfInputMethod(page, "Title")).toBe(false)
    expect(await page.getByRole("article", { name: "You" }).count()).toBe(1)
  })
})

describe("a message that is sent during a reply", () => {
  it("waits for its end, also through a reload, and can be taken back", async () => {
    // A person's running replies and waiting messages are limited together.
    await stopReplies()
    const page = await chat.open("/dashboard/chat")
    await field(page).fill("/slow 60")
    await field(page).press("Enter")
    await page.waitForURL(/\/dashboard\/chat\/[0-9a-f-]{36}$/)
    await page.getByRole("button", { name: "Stop generating" }).waitFor()
    for (const text of ["And tomorrow?", "And on Sunday?"]) {
      await field(page).fill(text)
      await field(page).press("Enter")
      await page.getByRole("list", { name: "Waiting messages" }).getByText(text).waitFor()
    }
    const waiting = page.getByRole("list", { name: "Waiting messages" })
    await expect.poll(() => waiting.getByRole("button", { name: "Take back" }).count()).toBe(2)
    await page.reload()
    await waiting.getByRole("listitem").filter({ hasText: "And on Sunday?" }).getByText("Take back").click()
    await expect.poll(() => field(page).inputValue()).toBe("And on Sunday?")
    const questions = page.getByRole("article", { name: "You" })
    await page.keyboard.press("Escape")
    await questions.getByText("And tomorrow?").waitFor()
    expect(await questions.count()).toBe(2)
  })
})

describe("an image", () => {
  it("can be sent without words", async () => {
    const page = await chat.open("/dashboard/chat")
    await choose(page, "buoy.png", await sharp(flat).png().toBuffer())
    await page.getByRole("list", { name: "Attached files" }).locator("img").waitFor()
    await field(page).press("Enter")
    await page.getByRole("article", { name: "You" }).getByRole("img", { name: "buoy.png" }).waitFor()
  })

  it("that is too large for the model is made smaller", async () => {
    const page = await chat.open("/dashboard/chat")
    const raw = { width: 3200, height: 2400, channels: 3 as const }
    const photo = await sharp(randomBytes(raw.width * raw.height * 3), { raw })
      .jpeg({ quality: 90 })
      .toBuffer()
    expect(photo.length).toBeGreaterThan(6e6)
    await choose(page, "photo.jpg", photo, "image/jpeg")
    await page.getByRole("button", { name: "Remove photo.jpg" }).waitFor()
    await page.getByRole("list", { name: "Attached files" }).locator("img").waitFor()
    const [stored] = await chat.sql`
      select files.size from files join blobs on blobs._id = storage_id where file_name = 'photo.jpg'`
    expect(Number(stored?.["size"])).toBeLessThan(5 * 1024 * 1024)
  })

  it("that the model cannot read is refused before it is uploaded, with what to do", async () => {
    const page = await chat.open("/dashboard/chat")
    await choose(page, "IMG_1.HEIC", Buffer.from("not looked at"), "image/heic")
    await page
      .getByText("The model can read JPEG, PNG, WebP and GIF images. Save this one as JPEG first.")
      .waitFor()
    expect(await chat.sql`select from files where file_name = 'IMG_1.HEIC'`).toHaveLength(0)
  })

  it("takes no space after the server has found that the model cannot read it", async () => {
    const page = await chat.open("/dashboard/chat")
    await choose(page, "scan.dat", await sharp(flat).tiff().toBuffer(), "application/octet-stream")
    await page.getByText("The model can read JPEG, PNG, WebP and GIF images.").waitFor()
    await expect.poll(() => chat.sql`select from files where file_name = 'scan.dat'`).toHaveLength(0)
  })
})

it("says when each message was written", async () => {
  const path = await chat.thread(2)
  await chat.sql`update chat_messages set _creation_time = ${Date.UTC(2026, 2, 4, 12, 30)}`
  const page = await chat.open(path, { timezoneId: "Asia/Tokyo" })
  for (const name of ["You", "Answer"]) {
    const time = page.getByRole("article", { name }).locator("time")
    await time.waitFor({ state: "attached" })
    expect(await time.textContent()).toBe("4 Mar, 21:30")
    expect(await time.getAttribute("title")).toBe("Wednesday, 4 March 2026 at 21:30:00")
  }
})

it.each([390, 1440])("keeps its buttons free of messages about what was done, at %i px", async (width) => {
  const path = await chat.thread(2, { title: "Moorings" })
  const page = await chat.open(path, { viewport: { width, height: 800 } })
  await page.locator("header").getByRole("button", { name: "More actions for Moorings" }).last().click()
  await page.getByRole("menuitem", { name: "Delete" }).click()
  await page.waitForURL(/\/dashboard\/chat$/)
  await page.getByRole("button", { name: "Undo" }).waitFor()
  await field(page).fill("One\ntwo\nthree\nfour\nfive\nsix")
  const send = page.getByRole("button", { name: "Send" })
  await expect
    .poll(async () => {
      const [above, below] = [await page.getByRole("dialog").last().boundingBox(), await send.boundingBox()]
      return above && below && above.y + above.height <= below.y
    })
    .toBe(true)
  await send.click({ trial: true })
})

/** A plain picture. */
const flat = { create: { width: 64, height: 64, channels: 3 as const, background: "teal" } }

function field(page: Page) {
  return page.getByLabel("Your question")
}

function choose(page: Page, name: string, buffer: Buffer, mimeType = "image/png") {
  return page.getByLabel("Files from this device").setInputFiles({ name, mimeType, buffer })
}

/** A file is attached once its size is shown in place of its progress. */
function attached(page: Page, size: string) {
  return page.getByRole("list", { name: "Attached files" }).getByText(size).waitFor()
}

/** Resolves with whether the page took the paste out of the browser's hands. */
function paste(page: Page, { text, image }: { text: string; image?: string }): Promise<boolean> {
  return field(page).evaluate(
    (area, pasted) => {
      const clipboardData = new DataTransfer()
      if (pasted.text) clipboardData.setData("text/plain", pasted.text)
      if (pasted.image) {
        const bytes = Uint8Array.from(atob(pasted.pixel), (each) => each.charCodeAt(0))
        clipboardData.items.add(new File([bytes], pasted.image, { type: "image/png" }))
      }
      const event = new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true })
      area.dispatchEvent(event)
      return event.defaultPrevented
    },
    { text, image, pixel: PIXEL },
  )
}

const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="

/** Resolves with whether the page acted on the Enter. */
function pressOfInputMethod(page: Page, label: string): Promise<boolean> {
  return page.getByLabel(label, { exact: true }).evaluate((area) => {
    const event = new KeyboardEvent("keydown", {
      key: "Enter",
      keyCode: 229,
      bubbles: true,
      cancelable: true,
    })
    area.dispatchEvent(event)
    return event.defaultPrevented
  })
}

async function stopReplies() {
  const list = await chat.person("/api/chat/threads")
  const { threads } = (await list.json()) as { threads: { _id: string }[] }
  for (const { _id } of threads)
    expect((await chat.person(`/api/chat/threads/${_id}/stop`, { method: "POST" })).status).toBe(200)
}
