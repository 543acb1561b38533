import { securityNotice } from "./security-email.ts"
import { linkTo, type Frame, type Written } from "./words.ts"

/** Emails of one kind to one address with working links, no matter who requested them. */
export const MOST_OPEN = 5

interface AccountLink {
  userId: string
  /** Contains the token, which is valid for `minutes`. */
  url: string
  minutes: number
}

/** To an account of the identity provider, which may not have a record yet. By kind. */
export const ACCOUNT_EMAILS = {
  "reset-password"({ userId, url, minutes }: AccountLink, { say }: Frame) {
    const title = say("Choose a new password", "Neues Passwort wählen")
    return {
      userId,
      ...linkTo(url, minutes * 60_000),
      mostOpen: MOST_OPEN,
      subject: say("Reset your Tideline password", "Ihr Passwort für Tideline zurücksetzen"),
      preview: say(
        `The link inside is valid for ${minutes} minutes.`,
        `Der Link in dieser E-Mail gilt ${minutes} Minuten.`,
      ),
      heading: title,
      body: [
        say(
          `Somebody, probably you, asked to reset the password of this account. The link is valid for ${minutes} minutes and works once.`,
          `Jemand, vermutlich Sie, möchte das Passwort dieses Kontos zurücksetzen. Der Link gilt ${minutes} Minuten lang und funktioniert nur einmal.`,
        ),
        say(
          "If it wasn't you, you don't need to do anything: your password stays the same.",
          "Wenn Sie das nicht waren, müssen Sie nichts tun: Ihr Passwort bleibt unverändert.",
        ),
      ],
      button: { label: title, url },
      reason: say(
        "You're receiving this email because a password reset was requested for this email address.",
        "Sie erhalten diese E-Mail, weil für diese E-Mail-Adresse ein neues Passwort angefordert wurde.",
      ),
    }
  },

  "verify-address"({ userId, url, minutes }: AccountLink, { say }: Frame) {
    return {
      userId,
      ...linkTo(url, minutes * 60_000),
      mostOpen: MOST_OPEN,
      subject: say(
        "Confirm your email address for Tideline",
        "Bestätigen Sie Ihre E-Mail-Adresse für Tideline",
      ),
      preview: say(
        "One click confirms that this email address is yours.",
        "Mit einem Klick bestätigen Sie, dass diese E-Mail-Adresse Ihnen gehört.",
      ),
      heading: say("Confirm your email address", "Bestätigen Sie Ihre E-Mail-Adresse"),
      body: [
        say(
          "Someone, probably you, signed up with this address. Open the link in the browser in which you signed up to confirm it. In any other browser you choose a new password first, and anyone who used the account before is signed out.",
          "Jemand, vermutlich Sie, hat mit dieser E-Mail-Adresse ein Konto angelegt. Öffnen Sie den Link zur Bestätigung in dem Browser, in dem Sie sich registriert haben. In jedem anderen Browser wählen Sie zuerst ein neues Passwort, und wer das Konto bisher benutzt hat, wird abgemeldet.",
        ),
        say(
          "If you did not sign up, ignore this email.",
          "Wenn Sie kein Konto angelegt haben, ignorieren Sie diese E-Mail.",
        ),
      ],
      button: { label: say("Confirm email address", "E-Mail-Adresse bestätigen"), url },
      reason: say(
        "You're receiving this email because this email address was used to create an account.",
        "Sie erhalten diese E-Mail, weil mit dieser E-Mail-Adresse ein Konto angelegt wurde.",
      ),
    }
  },

  /**
   * To the owner of an account when somebody signs up with its address and gets the same response as
   * for any other.
   */
  "sign-up-attempted"({ userId }: { userId: string }, { say, origin }: Frame) {
    return {
      userId,
      cause: today(),
      subject: say("You already have a Tideline account", "Sie haben schon ein Konto bei Tideline"),
      preview: say(
        "Somebody tried to create another one with this email address.",
        "Jemand wollte mit dieser E-Mail-Adresse ein weiteres anlegen.",
      ),
      heading: say("You already have an account", "Sie haben schon ein Konto"),
      body: [
        say(
          "Somebody, probably you, tried to create an account with this email address. It already has one, and no other was created.",
          "Jemand, vermutlich Sie, wollte mit dieser E-Mail-Adresse ein Konto anlegen. Sie haben schon eines, deshalb wurde kein weiteres angelegt.",
        ),
        {
          text: say(
            "Sign in with your existing password. If you've forgotten it, choose a new one here:",
            "Melden Sie sich mit Ihrem bisherigen Passwort an. Wenn Sie es vergessen haben, wählen Sie hier ein neues:",
          ),
          url: `${origin}/sign-in/forgot-password`,
        },
        say(
          "If it wasn't you, you don't need to do anything: they haven't learned whether you have an account.",
          "Wenn Sie das nicht waren, müssen Sie nichts tun: Niemand hat erfahren, ob Sie ein Konto haben.",
        ),
      ],
      button: { label: say("Sign in", "Anmelden"), url: `${origin}/sign-in` },
      reason: say(
        "You're receiving this email because this email address was used to create an account.",
        "Sie erhalten diese E-Mail, weil jemand mit dieser E-Mail-Adresse ein Konto anlegen wollte.",
      ),
    }
  },

  /** `url` contains the token, which is valid for `hours`. */
  "confirm-address-change"({ userId, url, isNew, isConfirmed, next, hours }: AddressChange, { say }: Frame) {
    return {
      userId,
      ...linkTo(url, hours * 3_600_000),
      // Anyone can enter someone else's address.
      ...(isNew && { mostOpen: MOST_OPEN }),
      subject:
        isConfirmed || isNew
          ? say(
              "Confirm the new email address for Tideline",
              "Bestätigen Sie die neue E-Mail-Adresse für Tideline",
            )
          : say(
              "A new email address for your Tideline account",
              "Eine neue E-Mail-Adresse für Ihr Tideline-Konto",
            ),
      ...(isNew
        ? {
            preview: say(
              "Confirm that this email address is yours.",
              "Bestätigen Sie, dass diese E-Mail-Adresse Ihnen gehört.",
            ),
            heading: say("Confirm your new email address", "Bestätigen Sie Ihre neue E-Mail-Adresse"),
          }
        : {
            preview: say(
              "Your account is to get a new email address.",
              "Die E-Mail-Adresse Ihres Kontos soll geändert werden.",
            ),
            heading: say("A new email address for your account", "Eine neue E-Mail-Adresse für Ihr Konto"),
          }),
      body: isNew
        ? [
            say(
              `Somebody, probably you, wants to use this email address for their account. Open the link in the browser that is signed in to the account. It is valid for ${hours} hours.`,
              `Jemand, vermutlich Sie, möchte diese E-Mail-Adresse für ein Konto verwenden. Öffnen Sie den Link in dem Browser, in dem Sie in diesem Konto angemeldet sind. Er gilt ${hours} Stunden.`,
            ),
            say(
              "If it wasn't you, ignore this email, and nothing changes.",
              "Wenn Sie das nicht waren, ignorieren Sie diese E-Mail, und nichts ändert sich.",
            ),
          ]
        : isConfirmed
          ? [
              say(
                `Somebody who is signed in to your account wants to change its email address to ${next}. It changes once you confirm it here and in the email to the new address. The link is valid for ${hours} hours.`,
                `Jemand, der in Ihrem Konto angemeldet ist, möchte dessen E-Mail-Adresse in ${next} ändern. Sie wird geändert, sobald Sie die Änderung hier und in der E-Mail an die neue Adresse bestätigt haben. Der Link gilt ${hours} Stunden.`,
              ),
              say(
                "If it wasn't you, stop the change with the same link, and change your password.",
                "Wenn Sie das nicht waren, brechen Sie die Änderung mit demselben Link ab, und ändern Sie Ihr Passwort.",
              ),
            ]
          : [
              say(
                `Somebody who is signed in to your account wants to change its email address to ${next}. It changes once that address is confirmed.`,
                `Jemand, der in Ihrem Konto angemeldet ist, möchte dessen E-Mail-Adresse in ${next} ändern. Sie wird geändert, sobald die neue Adresse bestätigt ist.`,
              ),
              say(
                `If it wasn't you, you can stop the change for ${hours} hours. Then change your password.`,
                `Wenn Sie das nicht waren, können Sie die Änderung ${hours} Stunden lang abbrechen. Ändern Sie dann Ihr Passwort.`,
              ),
            ],
      button: {
        label: isNew
          ? say("Confirm email address", "E-Mail-Adresse bestätigen")
          : isConfirmed
            ? say("Confirm or stop", "Bestätigen oder abbrechen")
            : say("Stop the change", "Änderung abbrechen"),
        url,
      },
      reason: say(
        "You're receiving this email because the email address of an account is to be changed.",
        "Sie erhalten diese E-Mail, weil die E-Mail-Adresse eines Kontos geändert werden soll.",
      ),
    }
  },

  /** To the owner of an account when somebody wants to change another one to its address. */
  "address-change-attempted"({ userId }: { userId: string }, { say, origin }: Frame) {
    return {
      userId,
      cause: today(),
      subject: say(
        "Your email address already has a Tideline account",
        "Zu Ihrer E-Mail-Adresse gibt es schon ein Tideline-Konto",
      ),
      preview: say(
        "Somebody tried to use it for another account.",
        "Jemand wollte sie für ein anderes Konto verwenden.",
      ),
      heading: say("This email address has an account", "Zu dieser E-Mail-Adresse gibt es ein Konto"),
      body: [
        say(
          "Somebody, probably you, wants to use this email address for another account. It already has one, so nothing was changed.",
          "Jemand, vermutlich Sie, möchte diese E-Mail-Adresse für ein anderes Konto verwenden. Zu ihr gibt es schon eines, deshalb wurde nichts geändert.",
        ),
        say(
          "If it was you, sign in to that account, and delete it or change its email address first. If it wasn't you, you don't need to do anything: they haven't learned whether you have an account.",
          "Wenn Sie das waren, melden Sie sich in jenem Konto an, und löschen Sie es, oder ändern Sie zuerst dessen E-Mail-Adresse. Wenn nicht, müssen Sie nichts tun: Niemand hat erfahren, ob Sie ein Konto haben.",
        ),
      ],
      button: { label: say("Sign in", "Anmelden"), url: `${origin}/sign-in` },
      reason: say(
        "You're receiving this email because this email address was entered for an account.",
        "Sie erhalten diese E-Mail, weil diese E-Mail-Adresse für ein Konto eingegeben wurde.",
      ),
    }
  },

  "security-notice": securityNotice,
} satisfies Record<string, (about: never, frame: Frame) => Written>

/** To the present or the new address of an account. */
interface AddressChange {
  userId: string
  url: string
  /** Whether this is the address that the account changes to. */
  isNew: boolean
  /** Whether the address that it changes from is confirmed, so that its owner has to agree. */
  isConfirmed: boolean
  next: string
  hours: number
}

/** At most one a day, however often somebody tries: another would say the same. */
function today(): string {
  return new Date().toISOString().slice(0, 10)
}
