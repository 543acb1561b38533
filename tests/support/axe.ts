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
 * The same for a page that is looked at in light and in dark. The dark one has other colours and
 * nothing else, so that only the rules about colours are asked of it.
 */
export function faultsIn(colorScheme: "light" | "dark", page: Page): Promise<string[]> {
  return faultsOf(page, colorScheme === "dark" ? ["color-contrast", "link-in-text-block"] : undefined)
}

/** In the page. What fades in has less contrast on its way. */
async function settle() {
  const running = document.getAnimations().filter(({ playState }) => playState === "running")
  const ending = running.filter(({ effect }) => effect?.getComputedTiming().endTime !== Infinity)
  await Promise.allSettled(ending.map(({ finished }) => finished))
}
