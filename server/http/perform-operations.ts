import { data, redirect, type RouterContextProvider } from "react-router"
import * as v from "valibot"
import { dataOf, dataOfReason, isRefusal } from "#server/errors.ts"
import {
  inputIn,
  NEXT,
  nextPage,
  OPERATION,
  textOf,
  VALUES,
  type FormOutcome,
} from "#server/operations/form-contract.ts"
import { isRead, type Operation } from "#server/operations/implement.ts"
import { isStorable } from "#live/contract"
import { describeIssues, filledIn, readFormData, type FormFile } from "./form.ts"
import { safeTarget } from "./redirects.ts"
import { requireScope } from "./scope.ts"
import { networkIn } from "./visit.ts"

interface Asked {
  context: Readonly<RouterContextProvider>
  request: Request
  url: URL
}

/** Characters of the page that follows, which may hold what was filled in; Node reads 16 kB of headers. */
const LONGEST = 14_000

/**
 * The action of a page whose forms are operations (`OperationForm`). Each operation decides who may, so
 * a page can take the forms of other pages too.
 */
export function performOperations(
  operations: readonly Operation[],
  { file, redirects = 302 }: { file?: FormFile; redirects?: 302 | 303 } = {},
) {
  return async ({ context, request, url }: Asked) => {
    const scope = await requireScope(context)
    const form = await readFormData(request, file)
    if (!(form instanceof FormData))
      return data<FormOutcome>({ operation: "", values: "", errors: form.errors }, { status: form.status })
    const fields = Object.fromEntries(form)
    const about = { operation: textOf(fields[OPERATION]), values: textOf(fields[VALUES]) }
    const operation = operations.find((each) => each.name === about.operation && !isRead(each))
    const filled = operation && filledIn(form, operation.input)
    const refused = (status: number, errors: NonNullable<FormOutcome["errors"]>) =>
      data<FormOutcome>({ ...about, ...(filled && { filled }), errors }, { status })
    const input = readInput(form)
    if (!operation) return refused(400, { form: dataOfReason("form-outdated") })
    if (input === undefined) return refused(400, { form: dataOfReason("form-unreadable") })
    const parsed = v.safeParse(operation.input, input)
    if (!parsed.success) return refused(400, describeIssues(parsed.issues))
    try {
      const output = await operation.run(scope, parsed.output, { network: networkIn(context) })
      const { [NEXT]: next } = fields
      const page = next === "" ? url.pathname + url.search : next && nextPage(textOf(next), output)
      if (page !== undefined) return redirect(safeTarget(page, url.origin, undefined, LONGEST), redirects)
      return data<FormOutcome>({ ...about, output })
    } catch (error) {
      if (!isRefusal(error)) throw error
      // The form of what is gone is no longer on the page.
      if (error.status === 404) about.operation = ""
      return refused(error.status, { form: dataOf(error) })
    }
  }
}

function readInput(form: FormData): unknown {
  try {
    const input = inputIn(form)
    return isStorable(input) ? input : undefined
  } catch {
    return undefined
  }
}
