import { dataOfIssue } from "#server/errors.ts"
import { APIError } from "better-auth/api"
import * as v from "valibot"
import { KeyName } from "#server/accounts/contract.ts"
import { isStorable } from "#live/contract"
import { PersonName } from "#server/users/contract.ts"
import { CONFIRM_ADDRESS } from "./calls.ts"
import { ConfirmAddress } from "./confirm-address.ts"
import { PASSKEY_ENDPOINTS } from "./passkeys.ts"
import { SECOND_FACTOR_ENDPOINTS } from "./second-factor.ts"

const Nothing = v.optional(v.strictObject({}))

/**
 * The provider's endpoints that the product uses or describes, and their parameters. All others
 * that better-auth registers return 404: a test lists them and fails on an unknown one. better-auth
 * checks the lengths of passwords.
 */
export const ENDPOINTS: Readonly<Record<string, v.GenericSchema>> = {
  "POST /sign-up/email": v.strictObject({ name: PersonName, email: v.string(), password: v.string() }),
  "POST /sign-in/email": v.strictObject({ email: v.string(), password: v.string() }),
  "POST /sign-out": Nothing,
  "POST /request-password-reset": v.strictObject({ email: v.string() }),
  "POST /reset-password": v.strictObject({ token: v.string(), newPassword: v.string() }),
  "POST /change-password": v.strictObject({
    currentPassword: v.string(),
    newPassword: v.string(),
    revokeOtherSessions: v.optional(v.boolean()),
  }),
  [`POST ${CONFIRM_ADDRESS}`]: ConfirmAddress,
  "POST /api-key/create": v.strictObject({
    name: KeyName,
    /** Seconds. */
    expiresIn: v.optional(v.nullable(v.number())),
  }),
  "GET /api-key/list": v.unknown(),
  "POST /api-key/delete": v.strictObject({ keyId: v.string() }),
  "GET /jwks": v.unknown(),
  ...SECOND_FACTOR_ENDPOINTS,
  ...PASSKEY_ENDPOINTS,
}

/** Whether a request under the provider's path may reach it. */
export function isOffered(method: string, path: string): boolean {
  return Object.hasOwn(ENDPOINTS, `${method} ${path}`)
}

/** The parsed body of a request. Throws better-auth's refusal if it does not match the schema. */
export function parseBody(method: string, path: string, body: unknown): unknown {
  const schema = ENDPOINTS[`${method} ${path}`]
  if (!schema) throw new APIError("NOT_FOUND")
  if (!isStorable(body)) throw invalid("The body holds a character that cannot be stored.")
  const parsed = v.safeParse(schema, body)
  if (parsed.success) return parsed.output
  throw invalid(describe(parsed.issues[0]))
}

function invalid(message: string) {
  return new APIError("BAD_REQUEST", { code: "VALIDATION_ERROR", message })
}

function describe(issue: v.BaseIssue<unknown>): string {
  const field = issue.path?.map(({ key }) => String(key)).join(".")
  const { message } = dataOfIssue(issue)
  return field ? `${field}: ${message}` : message
}
