import { readDevice } from "#live/contract"
import { plain, type Frame } from "./words.ts"

/** About the security of an account, and what to do if it was not them. The same `cause` is emailed once. */
export function securityNotice(
  {
    userId,
    cause,
    subject,
    facts: { at, address, userAgent, name },
  }: { userId: string; cause: string; subject: NoticeSubject; facts: NoticeFacts },
  { say, language, origin }: Frame,
) {
  const time = new Intl.DateTimeFormat(language, { dateStyle: "long", timeStyle: "short", timeZone: "UTC" })
  const when = `${time.format(at)} UTC`
  const device = userAgent === null ? null : readDevice(userAgent)
  const browser = device?.browser ?? say("a browser", "ein Browser")
  const system = device?.system ?? say("an unknown system", "einem unbekannten System")
  const [title, happened] = NOTICES[subject](say, plain(name))
  return {
    userId,
    cause,
    subject: `${title} (Tideline)`,
    preview: say(`On ${when}.`, `Am ${when}.`),
    heading: title,
    body: [
      happened,
      say(`Time: ${when}`, `Zeit: ${when}`),
      ...(device ? [say(`Browser: ${browser} on ${system}`, `Browser: ${browser} auf ${system}`)] : []),
      ...(address ? [say(`Network address: ${address}`, `Netzwerkadresse: ${address}`)] : []),
      subject === "address-changed"
        ? say(
            "Emails about the account now go to the new address. If it wasn't you, reply to this email immediately.",
            "E-Mails zu dem Konto gehen jetzt an die neue Adresse. Wenn Sie das nicht waren, antworten Sie sofort auf diese E-Mail.",
          )
        : {
            text: say(
              "If it was you, there is nothing to do. If it wasn't, choose a new password now, which signs out every browser and deletes every API key:",
              "Wenn Sie das waren, müssen Sie nichts tun. Wenn nicht, wählen Sie jetzt ein neues Passwort. Damit werden alle Browser abgemeldet und alle API-Schlüssel gelöscht:",
            ),
            url: `${origin}/sign-in/forgot-password`,
          },
    ],
    button: { label: say("Check your account", "Konto prüfen"), url: `${origin}/dashboard/account` },
    reason: say(
      "You're receiving this email because it concerns the security of your account.",
      "Sie erhalten diese E-Mail, weil sie die Sicherheit Ihres Kontos betrifft.",
    ),
  }
}

/** What happened in or to an account, as it is known. `at` is in milliseconds since the epoch. */
interface NoticeFacts {
  at: number
  address: string | null
  userAgent: string | null
  /** What the person called a key or passkey. */
  name: string | null
}

export type NoticeSubject = keyof typeof NOTICES

/** The title, and what happened. `name` is empty if there is nothing to call. */
const NOTICES = {
  "new-browser": (say) => [
    say("New sign-in to your account", "Neue Anmeldung in Ihrem Konto"),
    say(
      "Your account was opened in a browser in which it was not opened before.",
      "Jemand hat sich in Ihrem Konto mit einem Browser angemeldet, der dafür bisher nicht benutzt wurde.",
    ),
  ],
  "password-changed": (say) => [
    say("Your password was changed", "Ihr Passwort wurde geändert"),
    say("Your account has a new password.", "Ihr Konto hat ein neues Passwort."),
  ],
  "address-changed": (say) => [
    say("Your email address was changed", "Ihre E-Mail-Adresse wurde geändert"),
    say(
      "Your account has a new email address, and no longer uses this one.",
      "Ihr Konto hat eine neue E-Mail-Adresse und verwendet diese nicht mehr.",
    ),
  ],
  "key-created": (say, name) => [
    say("New API key for your account", "Neuer API-Schlüssel für Ihr Konto"),
    say(
      `${name ? `The API key “${name}”` : "An API key"} was created. It lets a program use your account.`,
      `${name ? `Der API-Schlüssel „${name}“` : "Ein API-Schlüssel"} wurde erstellt. Mit ihm kann ein Programm Ihr Konto verwenden.`,
    ),
  ],
  "second-factor-added": (say) => [
    say("Two-factor authentication is on", "Zwei-Faktor-Authentifizierung eingeschaltet"),
    say(
      "Signing in to your account now also takes a code from an authenticator app.",
      "Für die Anmeldung in Ihrem Konto ist jetzt auch ein Code aus einer Authenticator-App nötig.",
    ),
  ],
  "second-factor-removed": (say) => [
    say("Two-factor authentication is off", "Zwei-Faktor-Authentifizierung ausgeschaltet"),
    say(
      "Signing in to your account no longer takes a code from an authenticator app.",
      "Für die Anmeldung in Ihrem Konto ist kein Code aus einer Authenticator-App mehr nötig.",
    ),
  ],
  "passkey-added": (say, name) => [
    say("New passkey for your account", "Neuer Passkey für Ihr Konto"),
    name
      ? say(`The passkey “${name}” was added.`, `Der Passkey „${name}“ wurde hinzugefügt.`)
      : say("A passkey was added.", "Ein Passkey wurde hinzugefügt."),
  ],
  "passkey-removed": (say, name) => [
    say("A passkey was removed", "Ein Passkey wurde entfernt"),
    name
      ? say(`The passkey “${name}” was removed.`, `Der Passkey „${name}“ wurde entfernt.`)
      : say("A passkey was removed.", "Ein Passkey wurde entfernt."),
  ],
} satisfies Record<string, (say: Frame["say"], name: string) => [title: string, happened: string]>
