import type { Page } from "playwright-core"
import type { Shot } from "./pages.ts"
import type { Product } from "./product.ts"

/** Dialogs, menus and sections of spaces, opened by the keyboard alone. */
export function surfacesOf({ thread, space, spaceThread }: Product): Shot[] {
  return [
    {
      name: "surface-switcher",
      path: `${space}/chat`,
      as: "ada",
      reveal: (page) => page.locator("button[popovertarget^=spaces-]:visible").press("Enter"),
    },
    {
      name: "surface-move-file",
      path: "/dashboard/files",
      as: "ada",
      async reveal(page) {
        await page.getByRole("button", { name: FILE_MENU }).first().press("Enter")
        await choose(page, MOVE)
      },
    },
    {
      name: "surface-copy-files",
      path: "/dashboard/files",
      as: "ada",
      async reveal(page) {
        for (const name of ["harbour-plan.pdf", "breakwater-at-dusk.jpg", "moorings.csv"]) {
          await page.getByRole("link", { name, exact: true }).focus()
          await page.keyboard.press(" ")
        }
        await page.getByRole("button", { name: MOVE_OR_COPY }).press("Enter")
        await choose(page, COPY)
      },
    },
    {
      name: "surface-move-conversation",
      path: thread,
      as: "ada",
      reveal: (page) => chooseForThread(page, MOVE),
    },
    {
      name: "surface-copy-conversation",
      path: spaceThread,
      as: "ada",
      reveal: (page) => chooseForThread(page, COPY),
    },
    {
      name: "surface-share-conversation",
      path: spaceThread,
      as: "ada",
      reveal: (page) => chooseForThread(page, SHARE),
    },
    {
      name: "surface-mention",
      path: spaceThread,
      as: "ada",
      async reveal(page) {
        await page.getByRole("textbox", { name: QUESTION }).pressSequentially("Could you look at it, @")
        await page.getByRole("listbox").waitFor()
      },
    },
    {
      name: "surface-mention-settings",
      path: "/dashboard/account",
      as: "ada",
      reveal: (page) => page.locator("#notifications").scrollIntoViewIfNeeded(),
    },
  ]
}

// In English and German. cspell:disable
const FILE_MENU = /^(Actions for|Aktionen für) /
const THREAD_MENU = /^(More actions for|Weitere Aktionen für) /
const MOVE_OR_COPY = /^(Move or copy|Verschieben oder kopieren)$/
const MOVE = /^(Move to…|Verschieben nach …)$/
const COPY = /^(Copy to…|Kopieren nach …)$/
const SHARE = /^(Share|Teilen)$/
const QUESTION = /^(Your question|Ihre Nachricht)$/
// cspell:enable

async function chooseForThread(page: Page, act: RegExp) {
  await page.locator("header").getByRole("button", { name: THREAD_MENU }).press("Enter")
  await choose(page, act)
}

async function choose(page: Page, act: RegExp) {
  await page.getByRole("menuitem", { name: act }).press("Enter")
  await page.getByRole("dialog").waitFor()
  await page.waitForTimeout(300) // it fades in
}
