import type { ShouldRevalidateFunctionArgs } from "react-router"

/**
 * For the data of a frame around pages: going from page to page asks for the page's own data only.
 * So a page that cannot be fetched does not take its frame with it. Forms, and explicit reloads,
 * still get it.
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
