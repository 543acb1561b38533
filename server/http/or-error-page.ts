import { data } from "react-router"
import { dataOf, isRefusal } from "#server/errors.ts"

/** Turns every refusal into an error page with the refusal's status. */
export async function orErrorPage<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
  try {
    return await ask()
  } catch (error) {
    throw isRefusal(error) ? data(dataOf(error), { status: error.status }) : error
  }
}
