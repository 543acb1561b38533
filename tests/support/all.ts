import { it } from "vitest"

/** The long forms of some tests, which include everything. */
const LONG_FORMS = ["FAULTS", "FAILOVER", "HISTORY", "UPLOADS"]

/**
 * Whether this run includes the tests that `npm test` leaves out, as `npm run test:all` does, which
 * every pull request and every night run. What `npm test` keeps of each group still shows its
 * faults (docs/decisions/0072).
 */
export const ALL = process.env["TESTS"] === "all" || LONG_FORMS.some((name) => process.env[name] === "long")

/** A test that `npm test` leaves out. */
export const inAll = it.runIf(ALL)

/** Every case, or every `step`th in `npm test`. */
export function sample<T>(cases: readonly T[], step: number): readonly T[] {
  return ALL ? cases : cases.filter((_, at) => at % step === 0)
}
