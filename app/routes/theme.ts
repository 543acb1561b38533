import { data } from "react-router"
import * as v from "valibot"
import { servicesContext } from "#server/context.ts"
import { keepChoice, readerWas } from "#server/http/choice.ts"
import { readForm } from "#server/http/form.ts"
import { allowMethods } from "#server/http/methods.ts"
import type { Route } from "./+types/theme.ts"

export const handle = { credential: "none" }

const ChooseTheme = v.object({
  theme: v.picklist(["light", "dark", "system"], "Choose light, dark or system."),
  from: readerWas,
})

export const middleware = [allowMethods("POST")]

/** Stores the reader's choice of colours in a cookie and redirects them back. */
export async function action({ context, request }: Route.ActionArgs) {
  const form = await readForm(request, ChooseTheme)
  if (!form.ok) return data({ errors: form.errors }, { status: form.status })
  const { theme, from } = form.value
  const { origin } = context.get(servicesContext).config
  return keepChoice(origin, { name: "theme", value: theme, isDefault: theme === "system", from })
}
