import { dataOfReason, isRefusal } from "#server/errors.ts"
import type { Reason, RefusalData, ValuesArgument } from "#server/refusal-contract.ts"
import { json } from "./json.ts"

/**
 * For resource routes: errors that a user can cause become a JSON error with their status, anything
 * else stays a failure.
 */
export async function answerRefusals(answer: () => Promise<Response>): Promise<Response> {
  try {
    return await answer()
  } catch (error) {
    if (!isRefusal(error)) throw error
    return json(refusalBody(error), { status: error.status })
  }
}

/** `error` is the English sentence; `reason` and `values` say the same to programs. */
export function refusalBody({ message, reason, values }: RefusalData) {
  return { error: message, reason, values }
}

/** The body of a refusal that nothing threw. */
export function bodyOf<R extends Reason>(reason: R, ...values: ValuesArgument<R>) {
  return refusalBody(dataOfReason(reason, ...values))
}
