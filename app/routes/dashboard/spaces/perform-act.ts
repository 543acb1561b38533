import { data } from "react-router"
import type * as v from "valibot"
import type { Sentence } from "#app/language/sentences.ts"
import { dataOf, isRefusal } from "#server/errors.ts"
import { readForm, type FormFile } from "#server/http/form.ts"

/** What a form of a space's pages led to. */
export interface Outcome {
  intent: string
  problem?: Sentence | undefined
  done?: Sentence
  /** The URL of a new link, which is shown once. */
  url?: string
  values?: Record<string, string>
}

/** Runs `act` with the form; a refusal is shown on the page. */
export async function performAct<Schema extends v.GenericSchema<unknown, { intent: string }>>(
  request: Request,
  schema: Schema,
  act: (form: v.InferOutput<Schema>) => Promise<Omit<Outcome, "intent"> | Response>,
  file?: FormFile,
) {
  const form = await readForm(request, schema, file)
  if (!form.ok) {
    const [problem] = Object.values<Sentence | undefined>(form.errors)
    const { intent = "", ...values } = form.values
    return data<Outcome>({ intent, problem, values }, { status: form.status })
  }
  const { intent } = form.value
  try {
    const outcome = await act(form.value)
    return outcome instanceof Response ? outcome : data<Outcome>({ intent, ...outcome })
  } catch (error) {
    if (!isRefusal(error)) throw error
    return data<Outcome>({ intent, problem: dataOf(error) }, { status: error.status })
  }
}
