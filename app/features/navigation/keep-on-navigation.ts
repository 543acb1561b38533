import type { ShouldRevalidateFunctionArgs } from "react-router"

/**
 * A `shouldRevalidate` for the data of a layout: navigation loads only the page's own data, so that
 * a page that cannot be loaded does not take its layout with it. Forms and explicit revalidation
 * still load it.
 */
export function keepOnNavigation({
  currentUrl,
  nextUrl,
  formMethod = "GET",
  defaultShouldRevalidate,
}: ShouldRevalidateFunctionArgs): boolean {
  const isNavigation = formMethod === "GET" && currentUrl.href !== nextUrl.href
  return isNavigation ? false : defaultShouldRevalidate
}
