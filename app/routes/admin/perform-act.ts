import { msg } from "@lingui/core/macro"
import { data, redirect, type RouterContextProvider } from "react-router"
import type * as v from "valibot"
import type { Sentence } from "#app/language/sentences.ts"
import { dataOf, isRefusal } from "#server/errors.ts"
import { readForm } from "#server/http/form.ts"
import { requireOperatorScope } from "#server/http/operator-scope.ts"
import type { RefusalData } from "#server/refusal-contract.ts"
import type { OperatorChange } from "#server/operator/contract.ts"

type Context = Readonly<RouterContextProvider>
type Scope = Awaited<ReturnType<typeof requireOperatorScope>>

/** What is shown only once, in the response to the form. */
interface Made {
  email: string
  link: string
}

/**
 * Handles every form of these pages: redirects back to the page, which reports what was done, or
 * returns the error.
 */
export async function performAct<Schema extends v.GenericSchema>(
  { context, request, url }: { context: Context; request: Request; url: URL },
  schema: Schema,
  perform: (scope: Scope, form: v.InferOutput<Schema>) => Promise<OperatorChange | Made>,
) {
  const scope = await requireOperatorScope(context)
  const form = await readForm(request, schema)
  if (!form.ok) {
    const [refused] = Object.values<RefusalData | undefined>(form.errors)
    const problem: Sentence = refused?.reason
      ? refused
      : msg`This form does not belong to this page. Reload it and try again.`
    return data({ problem, made: null }, { status: form.status })
  }
  try {
    const done = await perform(scope, form.value)
    if ("link" in done) return data({ problem: undefined, made: done })
    const { _id } = done
    const back = new URLSearchParams(url.search)
    back.set("did", _id)
    return redirect(`${url.pathname}?${back}`, 303)
  } catch (error) {
    if (!isRefusal(error)) throw error
    const problem: Sentence = dataOf(error)
    return data({ problem, made: null }, { status: error.status })
  }
}

/** The action of a page without a form. */
export async function refuseForms({ context }: { context: Context }): Promise<never> {
  await requireOperatorScope(context)
  throw data(null, { status: 405, headers: { Allow: "GET, HEAD" } })
}
