import { data } from "react-router"
import * as v from "valibot"
import { servicesContext } from "#server/context.ts"
import { keepChoice, readerWas } from "#server/http/choice.ts"
import { readForm } from "#server/http/form.ts"
import { allowMethods } from "#server/http/methods.ts"
import { LANGUAGES } from "#server/languages/contract.ts"
import type { Route } from "./+types/language.ts"

const ChooseLanguage = v.object({
  language: v.picklist(LANGUAGES, "Choose English (en) or German (de)."),
  from: readerWas,
})

export const middleware = [allowMethods("POST")]

/** Keeps the reader's choice of language in a cookie and sends them back to where they were. */
export async function action({ context, request }: Route.ActionArgs) {
  const form = await readForm(request, ChooseLanguage)
  if (!form.ok) return data({ errors: form.errors }, { status: form.status })
  const { language, from } = form.value
  const { origin } = context.get(servicesContext).config
  return keepChoice(origin, { name: "language", value: language, from })
}
