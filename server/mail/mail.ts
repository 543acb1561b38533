import type { Config } from "#server/config.ts"
import type { Scope } from "#server/scope.ts"
import type { EmailRequest } from "./contract.ts"
import type { Letter } from "./layout.ts"
import { passwordResetLetter, planChangedLetter, verifyAddressLetter, welcomeLetter } from "./letters.ts"

type Sender = Scope<"mail"> & { config: Pick<Config, "origin"> }

/** Each of these resolves to the provider's id of the message, and throws what the provider said when it refused. */
export function sendEmail(scope: Sender, to: string, request: EmailRequest) {
  switch (request.template) {
    case "welcome":
      return sendWelcome(scope, to, request)
    case "plan-changed":
      return sendPlanChanged(scope, to, request)
  }
}

export function sendWelcome({ mail, config }: Sender, to: string, { name }: { name: string }) {
  return post(mail, to, welcomeLetter({ name, origin: config.origin }))
}

export function sendPlanChanged(
  { mail, config }: Sender,
  to: string,
  { name, previousPlan, newPlan }: { name: string; previousPlan: string; newPlan: string },
) {
  return post(mail, to, planChangedLetter({ name, previousPlan, newPlan, origin: config.origin }))
}

/** `url` carries the token, which is good for `minutes`. */
export function sendPasswordReset(
  { mail, config }: Sender,
  to: string,
  { url, minutes }: { url: string; minutes: number },
) {
  return post(mail, to, passwordResetLetter({ url, minutes, origin: config.origin }))
}

/** `url` carries the token. */
export function sendAddressVerification({ mail, config }: Sender, to: string, { url }: { url: string }) {
  return post(mail, to, verifyAddressLetter({ url, origin: config.origin }))
}

function post(mail: Sender["mail"], to: string, letter: Letter) {
  return mail.send({ to, ...letter })
}
