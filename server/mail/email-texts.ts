/**
 * The texts of emails in one language. `reader` is the name to greet; it and the names of plans may
 * be empty.
 */
export interface EmailTexts {
  welcome(about: { reader: string }): WordsWithButton
  planChanged(about: { reader: string; previous: string; next: string }): WordsWithButton
  passwordReset(about: { minutes: number }): WordsWithButton
  verifyAddress(): WordsWithButton
  signUpAttempted(about: { resetUrl: string }): WordsWithButton
  waitlistConfirmation(about: { days: number }): WordsWithButton
  waitlistInvitation(about: { days: number }): WordsWithButton
  /** `inviter` and `space` may be empty. */
  spaceInvitation(about: { inviter: string; space: string; days: number }): WordsWithButton
  /**
   * Each `author` may be empty. `space` is empty if there are
   * several, and each mention's is otherwise. `more` of them are not quoted.
   */
  mention(about: {
    space: string
    conversations: number
    mentions: { author: string; space: string; said: string }[]
    more: number
    settingsUrl: string
  }): WordsWithButton
  accountDeleted(about: { reader: string }): Words
  securityNotice(about: { subject: NoticeSubject; details: NoticeDetails; resetUrl: string }): WordsWithButton
  /** `isNew` for the new address, to which the account changes. */
  confirmAddressChange(about: {
    isNew: boolean
    isConfirmed: boolean
    next: string
    hours: number
  }): WordsWithButton
  addressChangeAttempted(): WordsWithButton
  /** Introduces the button's URL, for people who cannot use the button. */
  orOpen: string
}

/** What happened to the security of an account. */
export type NoticeSubject =
  | "new-browser"
  | "password-changed"
  | "address-changed"
  | "key-created"
  | "second-factor-added"
  | "second-factor-removed"
  | "passkey-added"
  | "passkey-removed"

/** When and from where it happened, in words. */
export interface NoticeDetails {
  /** The time, in UTC. */
  when: string
  /** Null if it is not known. */
  browser: { browser: string | null; system: string | null } | null
  address: string | null
  /** What the person called a key or passkey; empty if there is nothing to call. */
  name: string
}

export interface Words {
  /** Used in a header, so it never contains text from a person. */
  subject: string
  /** Shown by inboxes after the subject. */
  preview: string
  heading: string
  /** The message, and where it leads, if anywhere. */
  body: (string | { text: string; url: string })[]
  /** Why the reader gets this email. */
  reason: string
}

interface WordsWithButton extends Words {
  button: string
}
