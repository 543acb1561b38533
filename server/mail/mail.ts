import type { Config } from "#server/config.ts"
import type { Language } from "#server/language-contract.ts"
import type { Scope } from "#server/scope.ts"
import { ACCOUNT_EMAILS, MOST_OPEN } from "./account-emails.ts"
import type { EmailRequest } from "./contract.ts"
import { EMAILS } from "./emails.ts"
import { countOpen, queueEmail, type EmailKind, type Outbox } from "./outbox.ts"
import { invitationsOf, SPACE_EMAILS } from "./space-emails.ts"
import { frameOf, type Frame, type Written } from "./words.ts"

/** What an email of this kind is about, and its reader. */
export type About<Kind extends EmailKind> = Parameters<
  (typeof EMAILS & typeof SPACE_EMAILS & typeof ACCOUNT_EMAILS)[Kind]
>[0] & {
  email: string
  language: Language | null
}

type Kinds = { [Kind in EmailKind]: (about: About<Kind>, frame: Frame) => Written }

const KINDS: Kinds = { ...EMAILS, ...SPACE_EMAILS, ...ACCOUNT_EMAILS }

/**
 * Queues an email in the reader's language. Resolves to false if nothing was queued: there is one for
 * its cause already, or the address has enough with working links.
 */
export async function emailLater<Kind extends EmailKind>(
  outbox: Outbox,
  kind: Kind,
  about: About<Kind>,
): Promise<boolean> {
  return queueEmail(outbox, { kind, to: about.email, ...(await writeEmail(outbox.config, kind, about)) })
}

/**
 * Sends an email for a program that waits for the provider's response. Resolves to the provider's
 * message id, and throws the provider's refusal. It is in English, because part of its text is the
 * program's, whatever the reader's language.
 */
export async function sendEmail(
  { config, mail }: Scope<"mail"> & { config: Pick<Config, "origin"> },
  to: string,
  request: EmailRequest,
) {
  const about = { ...request, clerkId: "", change: "", email: to, language: null }
  const { message } = await writeEmail(config, request.template, about)
  return mail.send({ to, ...message })
}

/**
 * As `emailLater`, and resolves to "refused" if the same sender has had enough sent to the address.
 * What others sent refuses nothing: the invitation is there all the same.
 */
export async function emailInvitation(
  outbox: Outbox,
  about: About<"space-invitation">,
): Promise<boolean | "refused"> {
  const theirs = { kind: "space-invitation", to: about.email, causes: invitationsOf(about) } as const
  if ((await countOpen(outbox, theirs)) >= MOST_OPEN) return "refused"
  return emailLater(outbox, "space-invitation", about)
}

export async function writeEmail<Kind extends EmailKind>(
  config: Pick<Config, "origin">,
  kind: Kind,
  about: About<Kind>,
) {
  const frame = frameOf(config, about.language)
  const { subject, preview, heading, body, button, reason, ...posting } = KINDS[kind](about, frame)
  // Loading React and its renderer takes 100 ms at startup, and a process may never write an email.
  const { composeEmail } = await import("./parts.ts")
  const words = { subject, preview, heading, body, reason, ...(button && { button }) }
  return { ...posting, message: await composeEmail(words, frame) }
}
