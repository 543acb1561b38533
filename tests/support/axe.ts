import axe, { type RunOptions } from "axe-core"
import type { Page } from "playwright-core"
import { ALL } from "./all.ts"

/** What axe finds on the page once nothing on it moves any more: the rule and the element. */
export async function faultsOf(page: Page, rules?: string[]): Promise<string[]> {
  await settle(page)
  // Once for each page: it takes half a megabyte to compile.
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(axe.source)
  return page.evaluate(check, {
    // Passes and paths to the elements are left out: they cost time and nobody reads them. No
    // enabled rule needs the style sheets loaded again.
    resultTypes: ["violations"],
    preload: false,
    ...(rules && { runOnly: rules }),
  } satisfies RunOptions)
}

/** Runs in the page. */
async function check(options: RunOptions): Promise<string[]> {
  const { violations } = await (window as unknown as { axe: typeof axe }).axe.run(options)
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
  )
}

/**
 * The same in light and in dark mode at each width (pixels), and whether the page is wider than the
 * window; each fault says where it was seen. Axe takes a second of a core per page. Dark mode
 * differs only in colours, so only the colour rules run in it. `npm test` looks at each width in one
 * of the modes, and at both modes over the widths.
 */
export async function faultsInEveryLook(page: Page, widths: number[] = [390, 1440]): Promise<string[]> {
  await settle(page)
  const transitions = await page.evaluateHandle(stopTransitions)
  const faults: string[] = []
  for (const { width, colorScheme, rules } of looksAt(widths)) {
    await page.setViewportSize({ width, height: page.viewportSize()?.height ?? 900 })
    await page.emulateMedia({ colorScheme })
    const found = await faultsOf(page, rules)
    const drawn = await page.evaluate(() => document.documentElement.scrollWidth)
    if (drawn > width) found.push(`${drawn} pixels wide`)
    faults.push(...found.map((fault) => `${colorScheme}, ${width} pixels: ${fault}`))
  }
  await transitions.evaluate((sheet) => sheet.replaceSync(""))
  return faults
}

interface Look {
  width: number
  colorScheme: "light" | "dark"
  /** All of them if there are none. */
  rules?: string[]
}

function looksAt(widths: number[]): Look[] {
  const looks = widths.flatMap((width): Look[] => [
    { width, colorScheme: "light" },
    { width, colorScheme: "dark", rules: ["color-contrast", "link-in-text-block"] },
  ])
  // The first of four in light mode, and the last in dark mode.
  return ALL || widths.length === 1 ? looks : looks.filter((_, at) => at % 3 === 0)
}

/**
 * Resolves when animations have ended: an element that fades in has less contrast until then, and
 * one that inherits a colour starts its transition only afterwards.
 */
function settle(page: Page): Promise<void> {
  return page.evaluate(async () => {
    for (let moves = true; moves;) {
      const running = document.getAnimations().filter(({ playState }) => playState === "running")
      const ending = running.filter(({ effect }) => effect?.getComputedTiming().endTime !== Infinity)
      for (const animation of ending) animation.finish()
      // Colours and widths that were just changed take effect with the next frame.
      await new Promise(requestAnimationFrame)
      moves = ending.length > 0
    }
  })
}

/** Runs in the page: new colours apply immediately, without a transition for each element. */
function stopTransitions(): CSSStyleSheet {
  const sheet = new CSSStyleSheet()
  sheet.replaceSync("*, ::before, ::after { transition: none !important }")
  document.adoptedStyleSheets.push(sheet)
  return sheet
}
