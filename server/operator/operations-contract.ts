import * as v from "valibot"
import { operations } from "#server/operations/contract.ts"
import { reason } from "#server/reason-contract.ts"
import { ClerkId } from "#server/users/contract.ts"
import { JoinWaitlist } from "#server/waitlist/contract.ts"

/** The id of the recorded act, by which the next page says what was done. */
const Done = v.object({ _id: v.string() })
const act = { may: "operator", output: Done, httpOnly: true } as const
const Id = v.pipe(v.string(), v.uuid(reason("not-found")))
const Person = v.strictObject({ userId: ClerkId })
const Email = v.strictObject({ emailId: Id })

/** What operators do on their pages, and nobody anywhere else. */
export const operatorOperations = operations("operator", { tag: "Operator", missing: "record" })({
  changePlan: {
    ...act,
    about: "Changes a person's plan.",
    input: v.strictObject({ userId: ClerkId, plan: v.picklist(["free", "pro"]) }),
  },
  signOut: { ...act, about: "Signs a person out of every browser.", input: Person },
  suspend: { ...act, about: "Keeps a person out.", input: Person },
  allow: { ...act, about: "Lets a suspended person in again.", input: Person },
  makePasswordLink: {
    ...act,
    about: "Creates a link with which a person chooses a new password.",
    input: Person,
    output: v.strictObject({ email: v.string(), link: v.string() }),
  },
  removeFactors: { ...act, about: "Removes a person's second factors.", input: Person },
  invite: {
    ...act,
    about: "Emails an invitation to an address.",
    input: v.strictObject(JoinWaitlist.entries),
  },
  retryEmail: { ...act, about: "Sends a parked email again.", input: Email },
  retryEmails: { ...act, about: "Sends all parked emails again.", input: v.strictObject({}) },
  dropEmail: { ...act, about: "Deletes an email that was not sent.", input: Email },
  stopReply: { ...act, about: "Stops anybody's reply.", input: v.strictObject({ answerId: Id }) },
})
