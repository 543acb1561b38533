import { createHash } from "node:crypto"
import type { Config } from "#server/config.ts"
import type { Language } from "#server/language-contract.ts"
import type { Scope } from "#server/scope.ts"
import type { EmailRequest } from "./contract.ts"
import type { NoticeSubject } from "./email-texts.ts"
import type { NoticeFacts } from "./emails.ts"
import { countOpen, queueEmail, type Outbox } from "./outbox.ts"

type Sender = Scope<"mail"> & { config: Pick<Config, "origin"> }

/** Emails of one kind to one address with working links, no matter who requested them. */
const MOST_OPEN = 5
/** The same where the limit above counts those of one sender. */
const MOST_OPEN_OF_ALL = 20

// Loading React and its renderer takes 100 ms at startup, and a process may never write an email.
const emails = () => import("./emails.ts")

/**
 * Sends an email for a program that waits for the provider's response. Resolves to the provider's
 * message id, and throws the provider's refusal. It is in English, because part of its text is the
 * program's, whatever the reader's language.
 */
export async function sendEmail(sender: Sender, to: string, request: EmailRequest) {
  const { welcomeEmail, planChangedEmail } = await emails()
  const frame = frameOf(sender, "en")
  const message =
    request.template === "welcome"
      ? await welcomeEmail({ name: request.name, ...frame })
      : await planChangedEmail({ ...request, ...frame })
  return sender.mail.send({ to, ...message })
}

interface Person {
  /** The identity provider's id. */
  clerkId: string
  email: string
  name: string | null
  language: Language | null
}

/** Queues it once per person, however often it is called. */
export async function queueWelcome(outbox: Outbox, { clerkId, email, name, language }: Person) {
  const { welcomeEmail } = await emails()
  return queueEmail(outbox, {
    kind: "welcome",
    userId: clerkId,
    cause: "onboarding",
    to: email,
    message: await welcomeEmail({ name: name ?? "", ...frameOf(outbox, language) }),
  })
}

/** Queues it once per `change`, which identifies the write that changed the plan. */
export async function queuePlanChanged(
  outbox: Outbox,
  { clerkId, email, name, language }: Person,
  { previousPlan, newPlan, change }: { previousPlan: string; newPlan: string; change: string },
) {
  const { planChangedEmail } = await emails()
  const frame = frameOf(outbox, language)
  return queueEmail(outbox, {
    kind: "plan-changed",
    userId: clerkId,
    cause: `${previousPlan} to ${newPlan} in ${change}`,
    to: email,
    message: await planChangedEmail({ name: name ?? "", previousPlan, newPlan, ...frame }),
  })
}

/** To an account of the identity provider, which may not have a record yet. */
interface AccountEmail {
  userId: string
  email: string
  language: Language
}

/** `url` contains the token, which is valid for `minutes`. */
export async function queuePasswordReset(
  outbox: Outbox,
  { userId, email, language, url, minutes }: AccountEmail & { url: string; minutes: number },
) {
  const { passwordResetEmail } = await emails()
  return queueEmail(outbox, {
    kind: "reset-password",
    userId,
    cause: digestOf(url),
    to: email,
    message: await passwordResetEmail({ url, minutes, ...frameOf(outbox, language) }),
    expiresAt: Date.now() + minutes * 60_000,
    mostOpen: MOST_OPEN,
  })
}

/** `url` contains the token, which is valid for `minutes`. */
export async function queueAddressVerification(
  outbox: Outbox,
  { userId, email, language, url, minutes }: AccountEmail & { url: string; minutes: number },
) {
  const { verifyAddressEmail } = await emails()
  return queueEmail(outbox, {
    kind: "verify-address",
    userId,
    cause: digestOf(url),
    to: email,
    message: await verifyAddressEmail({ url, ...frameOf(outbox, language) }),
    expiresAt: Date.now() + minutes * 60_000,
    mostOpen: MOST_OPEN,
  })
}

/** At most one a day, however often somebody tries: another would say the same. */
export async function queueSignUpAttempted(outbox: Outbox, { userId, email, language }: AccountEmail) {
  const { signUpAttemptedEmail } = await emails()
  return queueEmail(outbox, {
    kind: "sign-up-attempted",
    userId,
    cause: new Date().toISOString().slice(0, 10),
    to: email,
    message: await signUpAttemptedEmail(frameOf(outbox, language)),
  })
}

interface WaitlistEmail {
  email: string
  language: Language | null
  /** Contains the token, which is valid for `days`. */
  url: string
  days: number
}

export async function queueWaitlistConfirmation(
  outbox: Outbox,
  { email, language, url, days }: WaitlistEmail,
  mostOpen: number,
) {
  const { waitlistConfirmationEmail } = await emails()
  return queueEmail(outbox, {
    kind: "waitlist-confirmation",
    userId: null,
    cause: digestOf(url),
    to: email,
    message: await waitlistConfirmationEmail({ url, days, ...frameOf(outbox, language) }),
    expiresAt: Date.now() + days * 86_400_000,
    mostOpen,
  })
}

export async function queueWaitlistInvitation(outbox: Outbox, { email, language, url, days }: WaitlistEmail) {
  const { waitlistInvitationEmail } = await emails()
  return queueEmail(outbox, {
    kind: "waitlist-invitation",
    userId: null,
    cause: digestOf(url),
    to: email,
    message: await waitlistInvitationEmail({ url, days, ...frameOf(outbox, language) }),
    expiresAt: Date.now() + days * 86_400_000,
  })
}

/**
 * `url` contains the token, which is valid until `expiresAt`. Resolves to whether the email will be
 * sent, and to "refused" if the same sender has had enough sent to the address. What others sent
 * refuses nothing: the invitation is there all the same.
 */
export async function queueSpaceInvitation(
  outbox: Outbox,
  {
    email,
    language,
    expiresAt,
    senderId,
    ...about
  }: {
    email: string
    language: Language | null
    url: string
    inviter: string
    senderId: string
    space: string
    expiresAt: number
  },
): Promise<boolean | "refused"> {
  const { spaceInvitationEmail } = await emails()
  const days = Math.max(1, Math.floor((expiresAt - Date.now() + 60_000) / 86_400_000))
  const kind = "space-invitation"
  const causes = digestOf(`${senderId} ${email}`)
  if ((await countOpen(outbox, { kind, to: email, causes })) >= MOST_OPEN) return "refused"
  return queueEmail(outbox, {
    kind,
    userId: null,
    cause: `${causes} ${digestOf(about.url)}`,
    to: email,
    message: await spaceInvitationEmail({ ...about, days, ...frameOf(outbox, language) }),
    expiresAt,
    // Anyone can enter someone else's address.
    mostOpen: MOST_OPEN_OF_ALL,
  })
}

/** About messages of any conversations, oldest first. The same `cause` is emailed once. */
export async function queueMentions(
  outbox: Outbox,
  {
    clerkId,
    email,
    language,
    cause,
    mentions,
  }: Pick<Person, "clerkId" | "email" | "language"> & {
    cause: string
    mentions: {
      space: string
      slug: string
      threadId: string
      messageId: string
      author: string | null
      excerpt: string
    }[]
  },
) {
  const { mentionEmail } = await emails()
  const [first] = mentions
  const conversations = new Set(mentions.map(({ threadId }) => threadId)).size
  const path =
    conversations === 1 && first
      ? `/s/${first.slug}/chat/${first.threadId}#message-${first.messageId}`
      : "/dashboard/notifications"
  const url = outbox.config.origin + path
  return queueEmail(outbox, {
    kind: "mention",
    userId: clerkId,
    cause,
    to: email,
    message: await mentionEmail({ url, conversations, mentions, ...frameOf(outbox, language) }),
    expiresAt: Date.now() + 7 * 86_400_000,
  })
}

/** Nothing of it is kept once it is sent. `userId` is the id that the account had. */
export async function queueAccountDeleted(outbox: Outbox, { clerkId, email, name, language }: Person) {
  const { accountDeletedEmail } = await emails()
  return queueEmail(outbox, {
    kind: "account-deleted",
    userId: null,
    cause: digestOf(clerkId),
    to: email,
    message: await accountDeletedEmail({ name: name ?? "", ...frameOf(outbox, language) }),
  })
}

/**
 * To the present or the new address of an account. `url` contains the token, which is valid for
 * `hours`.
 */
export async function queueAddressChange(
  outbox: Outbox,
  {
    userId,
    email,
    language,
    ...change
  }: {
    userId: string
    email: string
    language: Language | null
    url: string
    next: string
    isNew: boolean
    isConfirmed: boolean
    hours: number
  },
) {
  const { confirmAddressChangeEmail } = await emails()
  return queueEmail(outbox, {
    kind: "confirm-address-change",
    userId,
    cause: digestOf(change.url),
    to: email,
    message: await confirmAddressChangeEmail({ ...change, ...frameOf(outbox, language) }),
    expiresAt: Date.now() + change.hours * 3_600_000,
    // Anyone can enter someone else's address.
    ...(change.isNew && { mostOpen: MOST_OPEN }),
  })
}

/** At most one a day, however often somebody tries: another would say the same. */
export async function queueAddressChangeAttempted(
  outbox: Outbox,
  { userId, email, language }: { userId: string; email: string; language: Language | null },
) {
  const { addressChangeAttemptedEmail } = await emails()
  return queueEmail(outbox, {
    kind: "address-change-attempted",
    userId,
    cause: new Date().toISOString().slice(0, 10),
    to: email,
    message: await addressChangeAttemptedEmail(frameOf(outbox, language)),
  })
}

/** About an event of the security log. The same `cause` is emailed once. */
export async function queueSecurityNotice(
  outbox: Outbox,
  {
    userId,
    email,
    language,
    cause,
    subject,
    facts,
  }: {
    userId: string
    email: string
    language: Language | null
    cause: string
    subject: NoticeSubject
    facts: NoticeFacts
  },
) {
  const { securityNoticeEmail } = await emails()
  const message = await securityNoticeEmail({ subject, facts, ...frameOf(outbox, language) })
  return queueEmail(outbox, { kind: "security-notice", userId, cause, to: email, message })
}

/** People who never chose a language get English. */
function frameOf({ config }: Pick<Outbox, "config">, language: Language | null) {
  return { language: language ?? "en", origin: config.origin }
}

/** Identifies a link without containing it. */
function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("base64url")
}
