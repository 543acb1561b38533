import { DAY } from "./outbox.ts"
import { digestOf, label, plain, type Frame, type Written } from "./words.ts"

/** Messages that an email about mentions quotes. */
const MOST_QUOTED = 5

/** Invitations of all senders to one address with working links. */
const MOST_OPEN_OF_ALL = 20

interface Mention {
  space: string
  slug: string
  threadId: string
  messageId: string
  author: string | null
  excerpt: string
}

/** By kind. */
export const SPACE_EMAILS = {
  /** `url` contains the token, which is valid until `expiresAt`. */
  "space-invitation"(
    about: {
      url: string
      inviter: string
      senderId: string
      space: string
      email: string
      expiresAt: number
    },
    { say }: Frame,
  ) {
    const { url, expiresAt } = about
    const [inviter, space] = [label(about.inviter), label(about.space)]
    const days = Math.max(1, Math.floor((expiresAt - Date.now() + 60_000) / DAY))
    const quoted = (name: string) => say(`“${name}”`, `„${name}“`)
    const who = inviter ? quoted(inviter) : say("Somebody", "Jemand")
    return {
      userId: null,
      cause: `${invitationsOf(about)} ${digestOf(url)}`,
      expiresAt,
      // Anyone can enter someone else's address.
      mostOpen: MOST_OPEN_OF_ALL,
      subject: say(
        "You are invited to a space on Tideline",
        "Sie sind in einen Bereich bei Tideline eingeladen",
      ),
      preview: space
        ? say(`Conversations and files in “${space}”.`, `Unterhaltungen und Dateien in „${space}“.`)
        : say("Shared conversations and files.", "Gemeinsame Unterhaltungen und Dateien."),
      heading: space
        ? say(`You are invited to the space “${space}”`, `Sie sind in den Bereich „${space}“ eingeladen`)
        : say("You are invited to a space", "Sie sind in einen Bereich eingeladen"),
      body: [
        say(
          `${who} invites you to share conversations and files in ${space ? `the space “${space}”` : "a space"}. Both names were chosen by people who use this site. Everything in it is live for everybody who is in it.`,
          `${who} lädt Sie ein, Unterhaltungen und Dateien in ${space ? `dem Bereich „${space}“` : "einem Bereich"} zu teilen. Beide Namen haben Menschen gewählt, die diese Website nutzen. Alles darin ist für alle, die dazugehören, sofort zu sehen.`,
        ),
        say(
          `The link works once and is valid for ${days} days. You can sign in with the account that you have, or create one.`,
          `Der Link funktioniert einmal und gilt ${days} Tage lang. Sie können sich mit Ihrem Konto anmelden oder eines anlegen.`,
        ),
        say(
          "If you don't know who this is, ignore this email, and nothing happens.",
          "Wenn Sie nicht wissen, wer das ist, ignorieren Sie diese E-Mail, und es geschieht nichts.",
        ),
      ],
      button: { label: say("Open the invitation", "Einladung öffnen"), url },
      reason: say(
        "You're receiving this email because somebody entered this email address to invite you.",
        "Sie erhalten diese E-Mail, weil jemand diese E-Mail-Adresse eingegeben hat, um Sie einzuladen.",
      ),
    }
  },

  /** About messages of any conversations, oldest first. The same `cause` is emailed once. */
  mention(
    { clerkId, cause, mentions }: { clerkId: string; cause: string; mentions: Mention[] },
    { say, origin }: Frame,
  ) {
    const several = new Set(mentions.map(({ threadId }) => threadId)).size
    const [first] = several === 1 ? mentions : []
    const spaces = new Set(mentions.map((each) => label(each.space)))
    const space = spaces.size === 1 ? [...spaces].join("") : ""
    const quoted = mentions
      .slice(-MOST_QUOTED)
      .map((each) => ({
        author: label(each.author),
        where: spaces.size === 1 ? "" : label(each.space),
        // The @ of a mention would look like a part of an address.
        said: plain(each.excerpt.replaceAll(/(?<![\p{L}\p{N}_])@/gu, "")),
      }))
      .filter(({ said }) => said !== "")
    const more = quoted.length > 0 ? mentions.length - quoted.length : 0
    const author = quoted.length === 1 && quoted[0]?.author
    return {
      userId: clerkId,
      cause,
      expiresAt: Date.now() + 7 * DAY,
      subject: say("You were mentioned on Tideline", "Sie wurden bei Tideline erwähnt"),
      preview:
        several > 1
          ? `${say(`In ${several} conversations`, `In ${several} Unterhaltungen`)}${space && ` in ${space}`}.`
          : space
            ? say(`In a conversation in ${space}.`, `In einer Unterhaltung in ${space}.`)
            : say("In a conversation of a space.", "In einer Unterhaltung eines Bereichs."),
      heading: author
        ? say(`${author} mentioned you`, `${author} hat Sie erwähnt`)
        : say("You were mentioned", "Sie wurden erwähnt"),
      body: [
        several > 1
          ? say(
              `You were mentioned in ${several} conversations in ${space || "your spaces"}, and haven't read them yet.`,
              `Sie wurden in ${several} Unterhaltungen in ${space || "Ihren Bereichen"} erwähnt und haben sie noch nicht gelesen.`,
            )
          : say(
              `You were mentioned in a conversation in ${space || "one of your spaces"}, and haven't read it yet.`,
              `Sie wurden in einer Unterhaltung in ${space || "einem Ihrer Bereiche"} erwähnt und haben sie noch nicht gelesen.`,
            ),
        ...quoted.map(
          (each) =>
            `${each.author || say("Somebody", "Jemand")}${each.where && ` in ${each.where}`}: ${each.said}`,
        ),
        ...(more > 0 ? [say(`And ${more} more.`, `Und ${more} weitere.`)] : []),
        {
          text: say(
            "You can switch these emails off in your account:",
            "In Ihrem Konto können Sie diese E-Mails abschalten:",
          ),
          url: `${origin}/dashboard/account#notifications`,
        },
      ],
      button: {
        label:
          several > 1
            ? say("Open your notifications", "Mitteilungen öffnen")
            : say("Open the conversation", "Unterhaltung öffnen"),
        url:
          origin +
          (first
            ? `/s/${first.slug}/chat/${first.threadId}#message-${first.messageId}`
            : "/dashboard/notifications"),
      },
      reason: say(
        "You're receiving this email because you are a member of a space.",
        "Sie bekommen diese E-Mail, weil Sie Mitglied eines Bereichs sind.",
      ),
    }
  },
} satisfies Record<string, (about: never, frame: Frame) => Written>

/** With this the cause begins of every invitation that one sender sends to one address. */
export function invitationsOf({ senderId, email }: { senderId: string; email: string }): string {
  return digestOf(`${senderId} ${email}`)
}
