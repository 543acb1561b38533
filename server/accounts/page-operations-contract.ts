import * as v from "valibot"
import { operations } from "#server/operations/contract.ts"
import { Picture } from "#server/picture-contract.ts"
import { SaveProfile } from "#server/users/contract.ts"

/** What pages ask for in other words than programs do. */
export const accountPageOperations = operations("account-page", { tag: "Users" })({
  finishWelcome: {
    about: "Passes the first step of onboarding, and the one that asks for a name if there is one.",
    may: "session",
    input: v.strictObject({}),
    httpOnly: true,
  },
  finishProfile: {
    about: "Stores the name and the picture, and passes that step of onboarding.",
    may: "session",
    input: v.strictObject({ ...SaveProfile.entries, picture: v.optional(Picture) }),
    httpOnly: true,
  },
  removePicture: {
    about: "Removes the caller's picture.",
    may: "session",
    input: v.strictObject({}),
    httpOnly: true,
  },
  askFirst: {
    about: "Completes onboarding, and asks the chat a question.",
    may: "session",
    input: v.strictObject({ question: v.pipe(v.string(), v.maxLength(2000)) }),
    output: v.strictObject({ question: v.string() }),
    httpOnly: true,
  },
})
