import { isRefusal, type Refusal } from "#server/errors.ts"
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
export function refusalBody({ message, reason, values }: Refusal) {
  return { error: message, reason, values }
}
