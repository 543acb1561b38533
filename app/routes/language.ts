import { data } from "react-router"
import * as v from "valibot"
import { keepChoice, readerWas } from "#server/http/choice.ts"
import { readForm } from "#server/http/form.ts"
import { allowMethods } from "#server/http/methods.ts"
import { servicesOf, sessionOf } from "#server/http/scope.ts"
import { LANGUAGES } from "#server/language-contract.ts"
import { saveLanguage } from "#server/users/language.ts"
import type { Route } from "./+types/language.ts"

export const handle = { credential: "none" }

const ChooseLanguage = v.object({
  language: v.picklist(LANGUAGES, "Choose English (en) or German (de)."),
  from: readerWas,
})

export const middleware = [allowMethods("POST")]

/**
 * Stores the reader's choice of language in a cookie, and in their record for emails, and redirects
 * them back.
 */
export async function action({ context, request }: Route.ActionArgs) {
  const form = await readForm(request, ChooseLanguage)
  if (!form.ok) return data({ errors: form.errors }, { status: form.status })
  const { language, from } = form.value
  const services = servicesOf(context)
  const session = sessionOf(context)
  if (session) await saveLanguage(services, session.userId, language)
  return keepChoice(services.config.origin, { name: "language", value: language, from })
}
