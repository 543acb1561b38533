import { implement } from "#server/operations/implement.ts"
import { dropUnsentEmail, retryAllEmails, retryEmail } from "./emails.ts"
import { operatorOperations } from "./operations-contract.ts"
import { changePlan, makePasswordLink, removeFactors, signOutEverywhere } from "./people.ts"
import { stopRunningReply } from "./replies.ts"
import { allowPerson, suspendPerson } from "./suspension.ts"
import { invite } from "./waitlist.ts"

export const operatorFunctions = implement(operatorOperations, {
  changePlan: (scope, asked) => changePlan(scope, scope.viewer, asked),
  signOut: signOutEverywhere,
  suspend: (scope, asked) => suspendPerson(scope, scope.viewer, asked),
  allow: (scope, asked) => allowPerson(scope, scope.viewer, asked),
  makePasswordLink,
  removeFactors: (scope, asked) => removeFactors(scope, scope.viewer, asked),
  invite,
  retryEmail: (scope, { emailId }) => retryEmail(scope, emailId),
  retryEmails: retryAllEmails,
  dropEmail: (scope, { emailId }) => dropUnsentEmail(scope, emailId),
  stopReply: (scope, { answerId }) => stopRunningReply(scope, answerId),
})
