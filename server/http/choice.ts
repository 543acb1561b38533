import * as v from "valibot"
import { safePath } from "./redirects.ts"

/** The form field with the page that the reader came from. */
export const readerWas = v.fallback(v.string(), "/")

interface Choice {
  /** Of the cookie. */
  name: string
  value: string
  /** Whether it is the default, for which the cookie is removed. */
  isDefault?: boolean
  /**
   * The page that the reader came from. Anything that is no URL of this site leads to the home
   * page.
   */
  from: string
}

/**
 * Stores a choice of the reader's in a cookie for a year, and redirects them to the page they came
 * from.
 */
export function keepChoice(origin: string, { name, value, isDefault = false, from }: Choice): Response {
  const age = isDefault ? 0 : 365 * 24 * 60 * 60
  const secure = origin.startsWith("https:") ? "; Secure" : ""
  return new Response(null, {
    status: 303,
    headers: {
      location: safePath(from, origin) ?? "/",
      "set-cookie": `${name}=${value}; Path=/; Max-Age=${age}; SameSite=Lax; HttpOnly${secure}`,
    },
  })
}
