import { isRefusal } from "#server/errors.ts"
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
    return json({ error: error.message }, { status: error.status })
  }
}
