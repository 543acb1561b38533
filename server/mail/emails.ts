import { DAY } from "./outbox.ts"
import { digestOf, linkTo, plain, type Frame, type Written } from "./words.ts"

interface Person {
  /** The identity provider's id. */
  clerkId: string
  name: string | null
}

interface WaitlistLink {
  /** Contains the token, which is valid for `days`. */
  url: string
  days: number
}

/** By kind. What people wrote is empty where it was not fit to be shown. */
export const EMAILS = {
  /** Once per person, however often it is queued. */
  welcome({ clerkId, name }: Person, { say, origin }: Frame) {
    const reader = plain(name)
    return {
      userId: clerkId,
      cause: "onboarding",
      subject: say("Welcome to Tideline", "Willkommen bei Tideline"),
      preview: say(
        "Your account is ready: chat, files and everything live.",
        "Ihr Konto ist bereit: Chat, Dateien und alles live.",
      ),
      heading: say("Welcome aboard", "Willkommen an Bord") + (reader && `, ${reader}`),
      body: [
        say(
          "Your Tideline account is ready. Ask the chat a question, upload files to reach them from every device, and watch each change arrive the moment it is made.",
          "Ihr Konto bei Tideline ist bereit. Stellen Sie dem Chat eine Frage, laden Sie Dateien hoch, um sie auf jedem Gerät zu öffnen, und sehen Sie jede Änderung in dem Moment, in dem sie geschieht.",
        ),
        say("Start on your dashboard.", "Beginnen Sie am besten in der Übersicht."),
      ],
      button: { label: say("Open the dashboard", "Zur Übersicht"), url: `${origin}/dashboard` },
      reason: say(
        "You're receiving this email because you have an account here.",
        "Sie erhalten diese E-Mail, weil Sie hier ein Konto haben.",
      ),
    }
  },

  /** Once per `change`, which identifies the write that changed the plan. */
  "plan-changed"(
    {
      clerkId,
      name,
      previousPlan,
      newPlan,
      change,
    }: Person & { previousPlan: string; newPlan: string; change: string },
    { say, origin }: Frame,
  ) {
    const [reader, previous, next] = [plain(name), plain(previousPlan), plain(newPlan)]
    const unchanged = say(
      "Your files and conversations stay as they are.",
      "Ihre Dateien und Unterhaltungen bleiben unverändert.",
    )
    return {
      userId: clerkId,
      cause: `${previousPlan} to ${newPlan} in ${change}`,
      subject: say("Your Tideline plan has changed", "Ihr Tarif bei Tideline hat sich geändert"),
      preview:
        previous && next
          ? say(`From ${previous} to ${next}.`, `Von ${capital(previous)} zu ${capital(next)}.`)
          : unchanged,
      heading: reader
        ? say(`${reader}, your plan has changed`, `${reader}, Ihr Tarif hat sich geändert`)
        : say("Your plan has changed", "Ihr Tarif hat sich geändert"),
      body: [
        [
          previous
            ? say(`You were on the ${previous} plan.`, `Bisher hatten Sie den Tarif ${capital(previous)}.`)
            : say("You were on another plan.", "Bisher hatten Sie einen anderen Tarif."),
          next
            ? say(
                `From now on you are on the ${next} plan.`,
                `Ab jetzt haben Sie den Tarif ${capital(next)}.`,
              )
            : say(
                "Your account page says which one you are on now.",
                "Welchen Sie jetzt haben, sehen Sie auf Ihrer Kontoseite.",
              ),
        ].join(" "),
        `${unchanged} ${say(
          "If you didn't expect this, reply to this email.",
          "Wenn Sie das nicht erwartet haben, antworten Sie auf diese E-Mail.",
        )}`,
      ],
      button: { label: say("Compare plans", "Tarife vergleichen"), url: `${origin}/pricing` },
      reason: say(
        "You're receiving this email because the plan of your account changed.",
        "Sie erhalten diese E-Mail, weil sich der Tarif Ihres Kontos geändert hat.",
      ),
    }
  },

  "waitlist-confirmation"({ url, days, mostOpen }: WaitlistLink & { mostOpen: number }, { say }: Frame) {
    return {
      userId: null,
      ...linkTo(url, days * DAY),
      mostOpen,
      subject: say(
        "Confirm your place on the Tideline waitlist",
        "Bestätigen Sie Ihren Platz auf der Warteliste von Tideline",
      ),
      preview: say("One click, and you are on the list.", "Ein Klick, und Sie stehen auf der Liste."),
      heading: say("Confirm your place", "Bestätigen Sie Ihren Platz"),
      body: [
        say(
          `This email address was added to the waitlist. Confirm that it was you, and we'll let you know when there is room. The link is valid for ${days} days.`,
          `Diese E-Mail-Adresse wurde in die Warteliste eingetragen. Bestätigen Sie, dass Sie das waren, dann geben wir Ihnen Bescheid, wenn ein Platz frei ist. Der Link gilt ${days} Tage.`,
        ),
        say(
          "If it wasn't you, ignore this email, and nothing else will happen.",
          "Wenn Sie das nicht waren, ignorieren Sie diese E-Mail, und es passiert nichts weiter.",
        ),
      ],
      button: { label: say("Confirm my place", "Meinen Platz bestätigen"), url },
      reason: say(
        "You're receiving this email because somebody entered this email address on the waitlist page.",
        "Sie erhalten diese E-Mail, weil jemand diese E-Mail-Adresse in die Warteliste eingetragen hat.",
      ),
    }
  },

  "waitlist-invitation"({ url, days }: WaitlistLink, { say }: Frame) {
    return {
      userId: null,
      ...linkTo(url, days * DAY),
      subject: say("There is room for you at Tideline", "Bei Tideline ist ein Platz für Sie frei"),
      preview: say("Your invitation to create an account.", "Ihre Einladung, ein Konto anzulegen."),
      heading: say("There is room for you", "Ein Platz für Sie ist frei"),
      body: [
        say(
          `The people who run this site invite you to create an account. The link is for this email address only, is valid for ${days} days, and works once.`,
          `Die Betreiber dieser Website laden Sie ein, ein Konto anzulegen. Der Link ist nur für diese E-Mail-Adresse bestimmt, gilt ${days} Tage lang und funktioniert nur einmal.`,
        ),
        say(
          "If you don't want an account here, ignore this email.",
          "Wenn Sie hier kein Konto möchten, ignorieren Sie diese E-Mail.",
        ),
      ],
      button: { label: say("Create my account", "Konto anlegen"), url },
      reason: say(
        "You're receiving this email because the people who run this site invited this email address.",
        "Sie erhalten diese E-Mail, weil die Betreiber dieser Website diese E-Mail-Adresse eingeladen haben.",
      ),
    }
  },

  /** Nothing of it is kept once it is sent. `clerkId` is the id that the account had. */
  "account-deleted"({ clerkId, name }: Person, { say }: Frame) {
    const reader = plain(name)
    return {
      userId: null,
      cause: digestOf(clerkId),
      subject: say("Your Tideline account has been deleted", "Ihr Konto bei Tideline ist gelöscht"),
      preview: say(
        "Your files and conversations were deleted with it.",
        "Ihre Dateien und Unterhaltungen wurden mit ihm gelöscht.",
      ),
      heading: reader
        ? say(`${reader}, your account has been deleted`, `${reader}, Ihr Konto ist gelöscht`)
        : say("Your account has been deleted", "Ihr Konto ist gelöscht"),
      body: [
        say(
          "Your account on this site was deleted, together with your files and conversations. Backups may contain them until they are replaced.",
          "Ihr Konto auf dieser Website wurde gelöscht, zusammen mit Ihren Dateien und Unterhaltungen. In Backups können sie noch enthalten sein, bis diese ersetzt werden.",
        ),
        say(
          "This is the last email about it. If you didn't delete the account, reply to this email.",
          "Dies ist die letzte E-Mail dazu. Wenn nicht Sie das Konto gelöscht haben, antworten Sie auf diese E-Mail.",
        ),
      ],
      reason: say(
        "You're receiving this email because the account with this email address was deleted.",
        "Sie erhalten diese E-Mail, weil das Konto mit dieser E-Mail-Adresse gelöscht wurde.",
      ),
    }
  },
} satisfies Record<string, (about: never, frame: Frame) => Written>

/** As on the German pricing page. */
function capital(plan: string): string {
  return plan.charAt(0).toUpperCase() + plan.slice(1)
}
