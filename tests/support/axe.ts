import { AxeBuilder } from "@axe-core/playwright"
import type { Page } from "playwright-core"

/**
 * What axe finds on the page as it is once nothing on it moves any more: the rule, and the element.
 */
export async function faultsOf(page: Page, rules?: string[]): Promise<string[]> {
  await page.evaluate(settle)
  // In the page itself, not in a second one, and with nothing told of what is well: half the work.
  const builder = new AxeBuilder({ page }).setLegacyMode(true).options({ resultTypes: ["violations"] })
  const { violations } = await (rules ? builder.withRules(rules) : builder).analyze()
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`))
}

/**
 * The same in light and in dark, at each width (pixels), and whether the page is wider than the
 * window, each fault with where it was seen. Axe takes a second a page and a core: dark has other
 * colours and nothing else, so that only the rules about colours are asked of it.
 */
export async function faultsInEveryLook(page: Page, widths: number[] = [390, 1440]): Promise<string[]> {
  const faults: string[] = []
  for (const width of widths) {
    await page.setViewportSize({ width, height: page.viewportSize()?.height ?? 900 })
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme })
      const rules = colorScheme === "dark" ? ["color-contrast", "link-in-text-block"] : undefined
      const found = await faultsOf(page, rules)
      const drawn = await page.evaluate(() => document.documentElement.scrollWidth)
      if (drawn > width) found.push(`${drawn} pixels wide`)
      faults.push(...found.map((fault) => `${colorScheme}, ${width} pixels: ${fault}`))
    }
  }
  return faults
}

/** In the page. What fades in has less contrast on its way. */
async function settle() {
  const running = document.getAnimations().filter(({ playState }) => playState === "running")
  const ending = running.filter(({ effect }) => effect?.getComputedTiming().endTime !== Infinity)
  await Promise.allSettled(ending.map(({ finished }) => finished))
}
