import { resolve } from "node:path"
import * as v from "valibot"
import { openOperator } from "#server/adapters/identity/embedded/operator.ts"
import { removeFactorsOf } from "#server/adapters/identity/embedded/second-factor.ts"
import { setPlan } from "#server/adapters/identity/embedded/set-plan.ts"
import { openSuspension } from "#server/adapters/identity/embedded/suspension.ts"
import { KeyName } from "#server/accounts/contract.ts"
import type { SecurityEvent } from "#server/accounts/security-contract.ts"
import { recordSecurityEvent } from "#server/accounts/security-log.ts"
import { announce } from "#server/live.ts"
import { openLog } from "#server/log.ts"
import { changePlan, removeFactors } from "#server/operator/people.ts"
import { allowPerson, suspendPerson } from "#server/operator/suspension.ts"
import type { Scope } from "#server/scope.ts"
import { PersonName } from "#server/users/contract.ts"
import { readSettings, withDatabase } from "./database.ts"
import { runCommand } from "./run-command.ts"

// `npm run user -- <command>`: accounts of the embedded identity provider. It works whether
// Tideline is running or not.

const USAGE = `Usage: npm run user -- <command>

  list                              every account
  create <email> <name>             create an account, even if sign-up is closed
  plan <email> free|pro             change a person's plan
  suspend <email>                   keep a person out; their data stays
  allow <email>                     let a suspended person in again
  reset-password <email>            create a link to choose a new password
  remove-factors <email>            remove a person's second factor
  api-key <email> <name of the key> create an API key; it is shown once
`

const root = resolve(import.meta.dirname, "../..")

const Email = v.pipe(v.string(), v.trim(), v.toLowerCase(), v.email("This is not an email address."))
const Command = v.union(
  [
    v.tuple([v.literal("list")]),
    v.tuple([v.literal("create"), Email, PersonName]),
    v.tuple([v.literal("plan"), Email, v.picklist(["free", "pro"])]),
    v.tuple([v.literal("suspend"), Email]),
    v.tuple([v.literal("allow"), Email]),
    v.tuple([v.literal("reset-password"), Email]),
    v.tuple([v.literal("remove-factors"), Email]),
    v.tuple([v.literal("api-key"), Email, KeyName]),
  ],
  USAGE,
)

type Command = v.InferOutput<typeof Command>

await runCommand(Command, USAGE, async (command) => {
  process.stdout.write(`${await run(command)}
`)
})

async function run(command: Command): Promise<string> {
  const config = readSettings(root)
  const { identity, origin } = config
  if (identity.kind === "clerk") {
    throw new Error(
      "Accounts are at Clerk here: open https://dashboard.clerk.com to see people, change plans and reset passwords.",
    )
  }
  const log = openLog("warn")
  return withDatabase(config, root, (db) => {
    const record = (event: SecurityEvent) => recordSecurityEvent({ config, db, log }, event)
    return perform(command, { config, db, log }, openOperator({ ...identity, origin, db, log, record }))
  })
}

type Operator = ReturnType<typeof openOperator>

async function perform(
  command: Command,
  scope: Scope<"config" | "db" | "log">,
  operator: Operator,
): Promise<string> {
  switch (command[0]) {
    case "list":
      return describeAccounts(await operator.listAccounts())
    case "create": {
      const [, email, name] = command
      const link = await operator.createAccount(email, name)
      if (!link) throw new Error(`An account with the address ${email} already exists.`)
      return `${email} has an account. To choose a password, within an hour:\n${link}`
    }
    case "plan": {
      const [, email, plan] = command
      const { id: userId } = await operator.findAccount(email)
      await changePlan({ ...scope, identity: { setPlan } }, null, { userId, plan })
      return `${email} is on the ${plan} plan.`
    }
    case "suspend":
    case "allow": {
      const [act, email] = command
      const { id: userId } = await operator.findAccount(email)
      const here = { ...scope, announce, identity: { suspension: openSuspension(scope.db) } }
      await (act === "suspend" ? suspendPerson : allowPerson)(here, null, { userId })
      return act === "suspend"
        ? `${email} is suspended: signed out everywhere, and kept out until you run: npm run user -- allow ${email}`
        : `${email} may sign in again.`
    }
    case "reset-password": {
      const link = await operator.resetPassword(command[1])
      return `Give this link to ${command[1]}. It is good for an hour, once:\n${link}`
    }
    case "remove-factors": {
      const [, email] = command
      const { id: userId } = await operator.findAccount(email)
      await removeFactors({ ...scope, identity: { ownAccount: { removeFactors: removeFactorsOf } } }, null, {
        userId,
      })
      return `${email} signs in with the password alone. To set up a new second factor: ${scope.config.origin}/second-factor`
    }
    case "api-key": {
      const [, email, name] = command
      return `A key for ${email}. Store it: it is not shown again.\n${await operator.createApiKey(email, name)}`
    }
  }
}

type Account = Awaited<ReturnType<ReturnType<typeof openOperator>["listAccounts"]>>[number]

function describeAccounts(accounts: Account[]) {
  if (accounts.length === 0) return "There are no accounts yet."
  const rows = accounts.map(({ email, plan, emailVerified, suspendedAt, createdAt, name }) => [
    email,
    plan,
    suspendedAt ? "suspended" : emailVerified ? "confirmed" : "not confirmed",
    createdAt.toISOString().slice(0, 10),
    name,
  ])
  const widths = [0, 1, 2, 3].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n")
}
