import { data, redirect } from "react-router"
import * as v from "valibot"
import { servicesContext } from "#server/context.ts"
import { readForm } from "#server/http/form.ts"
import { languageCookie } from "#server/http/language.ts"
import { allowMethods } from "#server/http/methods.ts"
import { pathOfSite } from "#server/http/redirects.ts"
import { LANGUAGES } from "#server/languages/contract.ts"
import type { Route } from "./+types/language.ts"

const ChooseLanguage = v.object({
  language: v.picklist(LANGUAGES, "Choose English (en) or German (de)."),
  /** A path of this site: where the reader was. */
  from: v.fallback(v.string(), "/"),
})

export const middleware = [allowMethods("POST")]

/** Keeps the reader's choice of language in a cookie and sends them back to where they were. */
export async function action({ context, request }: Route.ActionArgs) {
  const form = await readForm(request, ChooseLanguage)
  if (!form.ok) return data({ errors: form.errors }, { status: form.status })
  const { origin } = context.get(servicesContext).config
  const cookie = languageCookie(form.value.language, { secure: origin.startsWith("https:") })
  return redirect(pathOfSite(form.value.from, origin) ?? "/", {
    status: 303,
    headers: { "Set-Cookie": cookie },
  })
}
