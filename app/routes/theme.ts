import { data, redirect } from "react-router"
import * as v from "valibot"
import { servicesContext } from "#server/context.ts"
import { readForm } from "#server/http/form.ts"
import { allowMethods } from "#server/http/methods.ts"
import { pathOfSite } from "#server/http/redirects.ts"
import { themeCookie } from "#server/http/theme.ts"
import type { Route } from "./+types/theme.ts"

const ChooseTheme = v.object({
  theme: v.picklist(["light", "dark", "system"], "Choose light, dark or system."),
  /** A path of this site: where the reader was. */
  from: v.fallback(v.string(), "/"),
})

export const middleware = [allowMethods("POST")]

/** Keeps the reader's choice of colours in a cookie and sends them back to where they were. */
export async function action({ context, request }: Route.ActionArgs) {
  const form = await readForm(request, ChooseTheme)
  if (!form.ok) return data({ errors: form.errors }, { status: form.status })
  const { origin } = context.get(servicesContext).config
  const cookie = themeCookie(form.value.theme, { secure: origin.startsWith("https:") })
  return redirect(pathOfSite(form.value.from, origin) ?? "/", {
    status: 303,
    headers: { "Set-Cookie": cookie },
  })
}
