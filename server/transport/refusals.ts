import { isRefusal } from "#server/errors.ts"
import { json } from "./json.ts"

/**
 * Answers for a resource route: what a user can cause becomes a JSON error with its status,
 * anything else stays a failure.
 */
export async function answerRefusals(answer: () => Promise<Response>): Promise<Response> {
  try {
    return await answer()
  } catch (error) {
    if (!isRefusal(error)) throw error
    return json({ error: error.message }, { status: error.status })
  }
}
