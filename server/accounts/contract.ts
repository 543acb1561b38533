import * as v from "valibot"

export type { AccountProblem } from "#server/ports/identity.ts"

export const PASSWORD_LENGTH = { least: 10, most: 128 }

const Email = v.pipe(
  v.string("Enter your e-mail address."),
  v.trim(),
  v.nonEmpty("Enter your e-mail address."),
  v.maxLength(254, "An e-mail address has at most 254 characters."),
  v.email("Enter an e-mail address such as ada@example.org."),
)

const Password = v.pipe(
  v.string("Enter your password."),
  v.nonEmpty("Enter your password."),
  v.maxLength(PASSWORD_LENGTH.most, `A password has at most ${PASSWORD_LENGTH.most} characters.`),
)

const NewPassword = v.pipe(
  v.string("Choose a password."),
  v.minLength(PASSWORD_LENGTH.least, `Choose a password of at least ${PASSWORD_LENGTH.least} characters.`),
  v.maxLength(PASSWORD_LENGTH.most, `A password has at most ${PASSWORD_LENGTH.most} characters.`),
)

export const SignIn = v.object({ email: Email, password: Password })

export const SignUp = v.object({
  name: v.pipe(
    v.string("Enter your name."),
    v.trim(),
    v.nonEmpty("Enter your name."),
    v.maxLength(100, "A name has at most 100 characters here."),
    v.check((text) => !/\p{Cc}/u.test(text), "Leave out control characters."),
  ),
  email: Email,
  password: NewPassword,
})

export const AskForReset = v.object({ email: Email })

export const ChooseNewPassword = v.object({
  /** From the link in the letter. */
  token: v.pipe(v.string(), v.nonEmpty(), v.maxLength(200)),
  password: NewPassword,
})
