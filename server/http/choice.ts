import * as v from "valibot"
import { safePath } from "./redirects.ts"

/** The field of a form that says where the reader was. */
export const readerWas = v.fallback(v.string(), "/")

interface Choice {
  /** Of the cookie. */
  name: string
  value: string
  /** Whether it is what there is without a cookie, which is removed then. */
  isDefault?: boolean
  /** Where the reader was. What is no address of this site leads to the start page. */
  from: string
}

/**
 * Keeps a choice of the reader's in a cookie for a year, and sends them back to where they were.
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
