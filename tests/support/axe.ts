import { AxeBuilder } from "@axe-core/playwright"
import type { Page } from "playwright-core"

/** What axe would mend on the page as it is now: the rule, and the element. */
export async function faultsOf(page: Page): Promise<string[]> {
  const { violations } = await new AxeBuilder({ page }).analyze()
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`))
}
