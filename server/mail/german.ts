import type { EmailTexts, NoticeDetails, NoticeSubject } from "./email-texts.ts"

export const german: EmailTexts = {
  welcome: ({ reader }) => ({
    subject: "Willkommen bei Tideline",
    preview: "Ihr Konto ist bereit: Chat, Dateien und alles live.",
    heading: reader ? `Willkommen an Bord, ${reader}` : "Willkommen an Bord",
    body: [
      "Ihr Konto bei Tideline ist bereit. Stellen Sie dem Chat eine Frage, laden Sie Dateien hoch, um sie auf jedem Gerät zu öffnen, und sehen Sie jede Änderung in dem Moment, in dem sie geschieht.",
      "Beginnen Sie am besten in der Übersicht.",
    ],
    button: "Zur Übersicht",
    reason: "Sie erhalten diese E-Mail, weil Sie hier ein Konto haben.",
  }),

  planChanged: ({ reader, previous, next }) => ({
    subject: "Ihr Tarif bei Tideline hat sich geändert",
    preview:
      previous && next
        ? `Von ${named(previous)} zu ${named(next)}.`
        : "Ihre Dateien und Unterhaltungen bleiben unverändert.",
    heading: reader ? `${reader}, Ihr Tarif hat sich geändert` : "Ihr Tarif hat sich geändert",
    body: [
      [
        previous
          ? `Bisher hatten Sie den Tarif ${named(previous)}.`
          : "Bisher hatten Sie einen anderen Tarif.",
        next
          ? `Ab jetzt haben Sie den Tarif ${named(next)}.`
          : "Welchen Sie jetzt haben, sehen Sie auf Ihrer Kontoseite.",
      ].join(" "),
      "Ihre Dateien und Unterhaltungen bleiben unverändert. Wenn Sie das nicht erwartet haben, antworten Sie auf diese E-Mail.",
    ],
    button: "Tarife vergleichen",
    reason: "Sie erhalten diese E-Mail, weil sich der Tarif Ihres Kontos geändert hat.",
  }),

  passwordReset: ({ minutes }) => ({
    subject: "Ihr Passwort für Tideline zurücksetzen",
    preview: `Der Link in dieser E-Mail gilt ${minutes} Minuten.`,
    heading: "Neues Passwort wählen",
    body: [
      `Jemand, vermutlich Sie, möchte das Passwort dieses Kontos zurücksetzen. Der Link gilt ${minutes} Minuten lang und funktioniert nur einmal.`,
      "Wenn Sie das nicht waren, müssen Sie nichts tun: Ihr Passwort bleibt unverändert.",
    ],
    button: "Neues Passwort wählen",
    reason: "Sie erhalten diese E-Mail, weil für diese E-Mail-Adresse ein neues Passwort angefordert wurde.",
  }),

  verifyAddress: () => ({
    subject: "Bestätigen Sie Ihre E-Mail-Adresse für Tideline",
    preview: "Mit einem Klick bestätigen Sie, dass diese E-Mail-Adresse Ihnen gehört.",
    heading: "Bestätigen Sie Ihre E-Mail-Adresse",
    body: [
      "Jemand, vermutlich Sie, hat mit dieser E-Mail-Adresse ein Konto angelegt. Öffnen Sie den Link zur Bestätigung in dem Browser, in dem Sie sich registriert haben. In jedem anderen Browser wählen Sie zuerst ein neues Passwort, und wer das Konto bisher benutzt hat, wird abgemeldet.",
      "Wenn Sie kein Konto angelegt haben, ignorieren Sie diese E-Mail.",
    ],
    button: "E-Mail-Adresse bestätigen",
    reason: "Sie erhalten diese E-Mail, weil mit dieser E-Mail-Adresse ein Konto angelegt wurde.",
  }),

  signUpAttempted: ({ resetUrl }) => ({
    subject: "Sie haben schon ein Konto bei Tideline",
    preview: "Jemand wollte mit dieser E-Mail-Adresse ein weiteres anlegen.",
    heading: "Sie haben schon ein Konto",
    body: [
      "Jemand, vermutlich Sie, wollte mit dieser E-Mail-Adresse ein Konto anlegen. Sie haben schon eines, deshalb wurde kein weiteres angelegt.",
      {
        text: "Melden Sie sich mit Ihrem bisherigen Passwort an. Wenn Sie es vergessen haben, wählen Sie hier ein neues:",
        url: resetUrl,
      },
      "Wenn Sie das nicht waren, müssen Sie nichts tun: Niemand hat erfahren, ob Sie ein Konto haben.",
    ],
    button: "Anmelden",
    reason: "Sie erhalten diese E-Mail, weil jemand mit dieser E-Mail-Adresse ein Konto anlegen wollte.",
  }),

  waitlistConfirmation: ({ days }) => ({
    subject: "Bestätigen Sie Ihren Platz auf der Warteliste von Tideline",
    preview: "Ein Klick, und Sie stehen auf der Liste.",
    heading: "Bestätigen Sie Ihren Platz",
    body: [
      `Diese E-Mail-Adresse wurde in die Warteliste eingetragen. Bestätigen Sie, dass Sie das waren, dann geben wir Ihnen Bescheid, wenn ein Platz frei ist. Der Link gilt ${days} Tage.`,
      "Wenn Sie das nicht waren, ignorieren Sie diese E-Mail, und es passiert nichts weiter.",
    ],
    button: "Meinen Platz bestätigen",
    reason: "Sie erhalten diese E-Mail, weil jemand diese E-Mail-Adresse in die Warteliste eingetragen hat.",
  }),

  waitlistInvitation: ({ days }) => ({
    subject: "Bei Tideline ist ein Platz für Sie frei",
    preview: "Ihre Einladung, ein Konto anzulegen.",
    heading: "Ein Platz für Sie ist frei",
    body: [
      `Die Betreiber dieser Website laden Sie ein, ein Konto anzulegen. Der Link ist nur für diese E-Mail-Adresse bestimmt, gilt ${days} Tage lang und funktioniert nur einmal.`,
      "Wenn Sie hier kein Konto möchten, ignorieren Sie diese E-Mail.",
    ],
    button: "Konto anlegen",
    reason:
      "Sie erhalten diese E-Mail, weil die Betreiber dieser Website diese E-Mail-Adresse eingeladen haben.",
  }),

  spaceInvitation: ({ inviter, space, days }) => ({
    subject: "Sie sind in einen Bereich bei Tideline eingeladen",
    preview: space ? `Unterhaltungen und Dateien in „${space}“.` : "Gemeinsame Unterhaltungen und Dateien.",
    heading: space ? `Sie sind in den Bereich „${space}“ eingeladen` : "Sie sind in einen Bereich eingeladen",
    body: [
      `${inviter ? `„${inviter}“` : "Jemand"} lädt Sie ein, Unterhaltungen und Dateien in ${space ? `dem Bereich „${space}“` : "einem Bereich"} zu teilen. Beide Namen haben Menschen gewählt, die diese Website nutzen. Alles darin ist für alle, die dazugehören, sofort zu sehen.`,
      `Der Link funktioniert einmal und gilt ${days} Tage lang. Sie können sich mit Ihrem Konto anmelden oder eines anlegen.`,
      "Wenn Sie nicht wissen, wer das ist, ignorieren Sie diese E-Mail, und es geschieht nichts.",
    ],
    button: "Einladung öffnen",
    reason: "Sie erhalten diese E-Mail, weil jemand diese E-Mail-Adresse eingegeben hat, um Sie einzuladen.",
  }),

  mention: ({ space, conversations, mentions, more, settingsUrl }) => ({
    subject: "Sie wurden bei Tideline erwähnt",
    preview:
      conversations > 1
        ? `In ${conversations} Unterhaltungen${space ? ` in ${space}` : ""}.`
        : space
          ? `In einer Unterhaltung in ${space}.`
          : "In einer Unterhaltung eines Bereichs.",
    heading:
      mentions.length === 1 && mentions[0]?.author
        ? `${mentions[0].author} hat Sie erwähnt`
        : "Sie wurden erwähnt",
    body: [
      conversations > 1
        ? `Sie wurden in ${conversations} Unterhaltungen in ${space || "Ihren Bereichen"} erwähnt und haben sie noch nicht gelesen.`
        : `Sie wurden in einer Unterhaltung in ${space || "einem Ihrer Bereiche"} erwähnt und haben sie noch nicht gelesen.`,
      ...mentions.map(
        ({ author, space: where, said }) => `${author || "Jemand"}${where ? ` in ${where}` : ""}: ${said}`,
      ),
      ...(more > 0 ? [`Und ${more} weitere.`] : []),
      { text: "In Ihrem Konto können Sie diese E-Mails abschalten:", url: settingsUrl },
    ],
    button: conversations > 1 ? "Mitteilungen öffnen" : "Unterhaltung öffnen",
    reason: "Sie bekommen diese E-Mail, weil Sie Mitglied eines Bereichs sind.",
  }),

  accountDeleted: ({ reader }) => ({
    subject: "Ihr Konto bei Tideline ist gelöscht",
    preview: "Ihre Dateien und Unterhaltungen wurden mit ihm gelöscht.",
    heading: reader ? `${reader}, Ihr Konto ist gelöscht` : "Ihr Konto ist gelöscht",
    body: [
      "Ihr Konto auf dieser Website wurde gelöscht, zusammen mit Ihren Dateien und Unterhaltungen. In Backups können sie noch enthalten sein, bis diese ersetzt werden.",
      "Dies ist die letzte E-Mail dazu. Wenn nicht Sie das Konto gelöscht haben, antworten Sie auf diese E-Mail.",
    ],
    reason: "Sie erhalten diese E-Mail, weil das Konto mit dieser E-Mail-Adresse gelöscht wurde.",
  }),

  securityNotice: ({ subject, details, resetUrl }) => {
    const { title, happened } = NOTICES[subject](details.name)
    return {
      subject: `${title} (Tideline)`,
      preview: `Am ${details.when}.`,
      heading: title,
      body: [
        happened,
        ...describeDetails(details),
        subject === "address-changed"
          ? "E-Mails zu dem Konto gehen jetzt an die neue Adresse. Wenn Sie das nicht waren, antworten Sie sofort auf diese E-Mail."
          : {
              text: "Wenn Sie das waren, müssen Sie nichts tun. Wenn nicht, wählen Sie jetzt ein neues Passwort. Damit werden alle Browser abgemeldet und alle API-Schlüssel gelöscht:",
              url: resetUrl,
            },
      ],
      button: "Konto prüfen",
      reason: "Sie erhalten diese E-Mail, weil sie die Sicherheit Ihres Kontos betrifft.",
    }
  },

  confirmAddressChange: ({ isNew, isConfirmed, next, hours }) => ({
    subject:
      isConfirmed || isNew
        ? "Bestätigen Sie die neue E-Mail-Adresse für Tideline"
        : "Eine neue E-Mail-Adresse für Ihr Tideline-Konto",
    preview: isNew
      ? "Bestätigen Sie, dass diese E-Mail-Adresse Ihnen gehört."
      : "Die E-Mail-Adresse Ihres Kontos soll geändert werden.",
    heading: isNew ? "Bestätigen Sie Ihre neue E-Mail-Adresse" : "Eine neue E-Mail-Adresse für Ihr Konto",
    body: isNew
      ? [
          `Jemand, vermutlich Sie, möchte diese E-Mail-Adresse für ein Konto verwenden. Öffnen Sie den Link in dem Browser, in dem Sie in diesem Konto angemeldet sind. Er gilt ${hours} Stunden.`,
          "Wenn Sie das nicht waren, ignorieren Sie diese E-Mail, und nichts ändert sich.",
        ]
      : isConfirmed
        ? [
            `Jemand, der in Ihrem Konto angemeldet ist, möchte dessen E-Mail-Adresse in ${next} ändern. Sie wird geändert, sobald Sie die Änderung hier und in der E-Mail an die neue Adresse bestätigt haben. Der Link gilt ${hours} Stunden.`,
            "Wenn Sie das nicht waren, brechen Sie die Änderung mit demselben Link ab, und ändern Sie Ihr Passwort.",
          ]
        : [
            `Jemand, der in Ihrem Konto angemeldet ist, möchte dessen E-Mail-Adresse in ${next} ändern. Sie wird geändert, sobald die neue Adresse bestätigt ist.`,
            `Wenn Sie das nicht waren, können Sie die Änderung ${hours} Stunden lang abbrechen. Ändern Sie dann Ihr Passwort.`,
          ],
    button: isNew
      ? "E-Mail-Adresse bestätigen"
      : isConfirmed
        ? "Bestätigen oder abbrechen"
        : "Änderung abbrechen",
    reason: "Sie erhalten diese E-Mail, weil die E-Mail-Adresse eines Kontos geändert werden soll.",
  }),

  addressChangeAttempted: () => ({
    subject: "Zu Ihrer E-Mail-Adresse gibt es schon ein Tideline-Konto",
    preview: "Jemand wollte sie für ein anderes Konto verwenden.",
    heading: "Zu dieser E-Mail-Adresse gibt es ein Konto",
    body: [
      "Jemand, vermutlich Sie, möchte diese E-Mail-Adresse für ein anderes Konto verwenden. Zu ihr gibt es schon eines, deshalb wurde nichts geändert.",
      "Wenn Sie das waren, melden Sie sich in jenem Konto an, und löschen Sie es, oder ändern Sie zuerst dessen E-Mail-Adresse. Wenn nicht, müssen Sie nichts tun: Niemand hat erfahren, ob Sie ein Konto haben.",
    ],
    button: "Anmelden",
    reason: "Sie erhalten diese E-Mail, weil diese E-Mail-Adresse für ein Konto eingegeben wurde.",
  }),

  orOpen: "Oder öffnen Sie diesen Link:",
}

/** Capitalised, as on the pricing page. */
function named(plan: string): string {
  return plan.charAt(0).toUpperCase() + plan.slice(1)
}

const NOTICES: Record<NoticeSubject, (name: string) => { title: string; happened: string }> = {
  "new-browser": () => ({
    title: "Neue Anmeldung in Ihrem Konto",
    happened:
      "Jemand hat sich in Ihrem Konto mit einem Browser angemeldet, der dafür bisher nicht benutzt wurde.",
  }),
  "password-changed": () => ({
    title: "Ihr Passwort wurde geändert",
    happened: "Ihr Konto hat ein neues Passwort.",
  }),
  "address-changed": () => ({
    title: "Ihre E-Mail-Adresse wurde geändert",
    happened: "Ihr Konto hat eine neue E-Mail-Adresse und verwendet diese nicht mehr.",
  }),
  "key-created": (name) => ({
    title: "Neuer API-Schlüssel für Ihr Konto",
    happened: name
      ? `Der API-Schlüssel „${name}“ wurde erstellt. Mit ihm kann ein Programm Ihr Konto verwenden.`
      : "Ein API-Schlüssel wurde erstellt. Mit ihm kann ein Programm Ihr Konto verwenden.",
  }),
  "second-factor-added": () => ({
    title: "Zwei-Faktor-Authentifizierung eingeschaltet",
    happened: "Für die Anmeldung in Ihrem Konto ist jetzt auch ein Code aus einer Authenticator-App nötig.",
  }),
  "second-factor-removed": () => ({
    title: "Zwei-Faktor-Authentifizierung ausgeschaltet",
    happened: "Für die Anmeldung in Ihrem Konto ist kein Code aus einer Authenticator-App mehr nötig.",
  }),
  "passkey-added": (name) => ({
    title: "Neuer Passkey für Ihr Konto",
    happened: name ? `Der Passkey „${name}“ wurde hinzugefügt.` : "Ein Passkey wurde hinzugefügt.",
  }),
  "passkey-removed": (name) => ({
    title: "Ein Passkey wurde entfernt",
    happened: name ? `Der Passkey „${name}“ wurde entfernt.` : "Ein Passkey wurde entfernt.",
  }),
}

function describeDetails({ when, browser, address }: NoticeDetails): string[] {
  const device =
    browser && `${browser.browser ?? "ein Browser"} auf ${browser.system ?? "einem unbekannten System"}`
  return [
    `Zeit: ${when}`,
    ...(device ? [`Browser: ${device}`] : []),
    ...(address ? [`Netzwerkadresse: ${address}`] : []),
  ]
}
