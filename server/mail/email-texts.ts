/** What emails say, in one language. `reader` is the name to greet by; it and the names of plans are empty where there are none. */
export interface EmailTexts {
  welcome(about: { reader: string }): WordsWithButton
  planChanged(about: { reader: string; previous: string; next: string }): WordsWithButton
  passwordReset(about: { minutes: number }): WordsWithButton
  verifyAddress(): WordsWithButton
  signUpAttempted(about: { resetUrl: string }): WordsWithButton
  waitlistConfirmation(about: { days: number }): WordsWithButton
  waitlistInvitation(about: { days: number }): WordsWithButton
  accountDeleted(about: { reader: string }): Words
  /** Stands over the address of the button, for who cannot press it. */
  orOpen: string
}

export interface Words {
  /** Goes into a header, so it never holds a person's words. */
  subject: string
  /** What an inbox shows after the subject. */
  preview: string
  heading: string
  /** What there is to say, and where it leads, if anywhere. */
  body: (string | { text: string; url: string })[]
  /** Why the reader gets this email. */
  reason: string
}

interface WordsWithButton extends Words {
  button: string
}
