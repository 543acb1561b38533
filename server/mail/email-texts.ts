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
  accountDeleted(about: { reader: string }): Words
  /** Introduces the button's URL, for people who cannot use the button. */
  orOpen: string
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
