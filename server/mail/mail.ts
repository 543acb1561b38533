import { createHash } from "node:crypto"
import type { Config } from "#server/config.ts"
import type { Language } from "#server/users/language-contract.ts"
import type { Scope } from "#server/scope.ts"
import type { EmailRequest } from "./contract.ts"
import { queueLetter, type Outbox } from "./outbox.ts"

type Sender = Scope<"mail"> & { config: Pick<Config, "origin"> }

/** Letters of one kind to one address whose links still work, whoever sets them off. */
const MOST_OPEN = 5

// React and its renderer cost a start 100 ms, and a process may never write a letter.
const letters = () => import("./letters.ts")

/**
 * Sends what a program asked for, now: it wants to hear what the provider says. Resolves to the provider's id of the message, and
 * throws what the provider said when it refused. It is in English: its words are partly the program's, whatever the reader's language.
 */
export async function sendEmail(sender: Sender, to: string, request: EmailRequest) {
  const { welcomeLetter, planChangedLetter } = await letters()
  const frame = frameOf(sender, "en")
  const letter =
    request.template === "welcome"
      ? await welcomeLetter({ name: request.name, ...frame })
      : await planChangedLetter({ ...request, ...frame })
  return sender.mail.send({ to, ...letter })
}

interface Person {
  /** The identity provider's id. */
  clerkId: string
  email: string
  name: string | null
  language: Language | null
}

/** Once for each person, however often it is called. */
export async function queueWelcome(outbox: Outbox, { clerkId, email, name, language }: Person) {
  const { welcomeLetter } = await letters()
  return queueLetter(outbox, {
    kind: "welcome",
    userId: clerkId,
    cause: "onboarding",
    to: email,
    letter: await welcomeLetter({ name: name ?? "", ...frameOf(outbox, language) }),
  })
}

/** Once for each `change`, which names the write that changed the plan. */
export async function queuePlanChanged(
  outbox: Outbox,
  { clerkId, email, name, language }: Person,
  { previousPlan, newPlan, change }: { previousPlan: string; newPlan: string; change: string },
) {
  const { planChangedLetter } = await letters()
  const frame = frameOf(outbox, language)
  return queueLetter(outbox, {
    kind: "plan-changed",
    userId: clerkId,
    cause: `${previousPlan} to ${newPlan} in ${change}`,
    to: email,
    letter: await planChangedLetter({ name: name ?? "", previousPlan, newPlan, ...frame }),
  })
}

/** To an account of the identity provider, which may have no record yet. */
interface AccountLetter {
  userId: string
  email: string
  language: Language
}

/** `url` carries the token, which is good for `minutes`. */
export async function queuePasswordReset(
  outbox: Outbox,
  { userId, email, language, url, minutes }: AccountLetter & { url: string; minutes: number },
) {
  const { passwordResetLetter } = await letters()
  return queueLetter(outbox, {
    kind: "reset-password",
    userId,
    cause: digestOf(url),
    to: email,
    letter: await passwordResetLetter({ url, minutes, ...frameOf(outbox, language) }),
    expiresAt: Date.now() + minutes * 60_000,
    mostOpen: MOST_OPEN,
  })
}

/** `url` carries the token, which is good for `minutes`. */
export async function queueAddressVerification(
  outbox: Outbox,
  { userId, email, language, url, minutes }: AccountLetter & { url: string; minutes: number },
) {
  const { verifyAddressLetter } = await letters()
  return queueLetter(outbox, {
    kind: "verify-address",
    userId,
    cause: digestOf(url),
    to: email,
    letter: await verifyAddressLetter({ url, ...frameOf(outbox, language) }),
    expiresAt: Date.now() + minutes * 60_000,
    mostOpen: MOST_OPEN,
  })
}

/** One a day, however often somebody tries: another would say the same. */
export async function queueSignUpAttempted(outbox: Outbox, { userId, email, language }: AccountLetter) {
  const { signUpAttemptedLetter } = await letters()
  return queueLetter(outbox, {
    kind: "sign-up-attempted",
    userId,
    cause: new Date().toISOString().slice(0, 10),
    to: email,
    letter: await signUpAttemptedLetter(frameOf(outbox, language)),
  })
}

interface WaitlistLetter {
  email: string
  language: Language | null
  /** Carries the token, which is good for `days`. */
  url: string
  days: number
}

export async function queueWaitlistConfirmation(
  outbox: Outbox,
  { email, language, url, days }: WaitlistLetter,
  mostOpen: number,
) {
  const { waitlistConfirmationLetter } = await letters()
  return queueLetter(outbox, {
    kind: "waitlist-confirmation",
    userId: null,
    cause: digestOf(url),
    to: email,
    letter: await waitlistConfirmationLetter({ url, days, ...frameOf(outbox, language) }),
    expiresAt: Date.now() + days * 86_400_000,
    mostOpen,
  })
}

export async function queueWaitlistInvitation(
  outbox: Outbox,
  { email, language, url, days }: WaitlistLetter,
) {
  const { waitlistInvitationLetter } = await letters()
  return queueLetter(outbox, {
    kind: "waitlist-invitation",
    userId: null,
    cause: digestOf(url),
    to: email,
    letter: await waitlistInvitationLetter({ url, days, ...frameOf(outbox, language) }),
    expiresAt: Date.now() + days * 86_400_000,
  })
}

/** Nothing of it stays once it is sent. `userId` is the id that the account had. */
export async function queueAccountDeleted(outbox: Outbox, { clerkId, email, name, language }: Person) {
  const { accountDeletedLetter } = await letters()
  return queueLetter(outbox, {
    kind: "account-deleted",
    userId: null,
    cause: digestOf(clerkId),
    to: email,
    letter: await accountDeletedLetter({ name: name ?? "", ...frameOf(outbox, language) }),
  })
}

/** Who has said nothing of a language reads English. */
function frameOf({ config }: Pick<Outbox, "config">, language: Language | null) {
  return { language: language ?? "en", origin: config.origin }
}

/** Names a link without being one. */
function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("base64url")
}
