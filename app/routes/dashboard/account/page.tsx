import { msg } from "@lingui/core/macro"
import { Trans, useLingui } from "@lingui/react/macro"
import { data, href, redirectDocument } from "react-router"
import { ClerkAccount } from "#app/features/identity/clerk.tsx"
import { i18nOf } from "#app/language/i18n.ts"
import { useSentences, type Sentence } from "#app/language/sentences.ts"
import { buttonClass, LinkButton } from "#app/ui/button.tsx"
import { AccountChange, KEY_SCOPES } from "#server/accounts/contract.ts"
import { LARGEST_PICTURE } from "#server/picture-contract.ts"
import { deleteAccount, refuseDeletion } from "#server/accounts/delete-account.ts"
import {
  changePassword,
  createKey,
  deleteKey,
  endOtherSessions,
  endSession,
  findOwnAccount,
  requestAddressChange,
  stopAddressChange,
} from "#server/accounts/own-account.ts"
import { removeSecondFactor, renewRecoveryCodes } from "#server/accounts/second-factor.ts"
import { addPasskey, beginPasskey, removePasskey, renamePasskey } from "#server/accounts/passkeys.ts"
import { removePicture, savePicture } from "#server/accounts/picture.ts"
import { findUsage } from "#server/files/files.ts"
import { readForm } from "#server/http/form.ts"
import { requireScope } from "#server/http/scope.ts"
import { visitOf } from "#server/http/visit.ts"
import { saveNotificationSettings } from "#server/notifications/settings.ts"
import { limitsOf } from "#server/plans/limits.ts"
import { listSharedSpaces, readSpaceChoices, requireSpaceChoices } from "#server/spaces/hand-over.ts"
import { saveProfile } from "#server/users/users.ts"
import { dataOf, isRefusal } from "#server/errors.ts"
import { textFor } from "#app/routes/auth/refusal-text.ts"
import { Page, PageHead } from "#app/ui/page.tsx"
import { PlanCard } from "./plan-card.tsx"
import { useOffersSpaces } from "#app/routes/dashboard/place/use-spaces.ts"
import { useUser } from "#app/routes/dashboard/viewer/use-user.ts"
import { AddressForm } from "./address-form.tsx"
import { Browsers } from "./browsers.tsx"
import { DeleteAccount } from "./delete-account.tsx"
import { Keys } from "./keys.tsx"
import { Notifications } from "./notifications.tsx"
import { sayOutcome, type Errors, type Outcome } from "./outcome.ts"
import { Passkeys } from "./passkeys.tsx"
import { PasswordForm } from "./password-form.tsx"
import { ProfileForm } from "./profile-form.tsx"
import { SecondFactor } from "./second-factor.tsx"
import { Section } from "./section.tsx"
import type { Route } from "./+types/page.ts"

export const meta: Route.MetaFunction = ({ matches }) => [
  { title: i18nOf(matches)._(msg`Account · Tideline`) },
]

export async function loader({ context }: Route.LoaderArgs) {
  const scope = await requireScope(context)
  const [account, usage, sharedSpaces] = await Promise.all([
    findOwnAccount(scope),
    findUsage(scope),
    listSharedSpaces(scope),
  ])
  const { session, user } = scope.viewer
  return {
    now: Date.now(),
    account,
    sharedSpaces,
    notifies: { inApp: user.notifiesInApp, byEmail: user.notifiesByEmail },
    plan: { plan: session.plan, usage, limits: limitsOf(scope.config, session) },
  }
}

export async function action({ context, request }: Route.ActionArgs) {
  const scope = await requireScope(context)
  const form = await readForm(request, AccountChange, PICTURE)
  if (!form.ok) {
    // Nothing was read of a form that was too large, and only a picture can make it so.
    const { intent = form.status === 413 ? "save-picture" : "" } = form.values
    return data({ intent, errors: form.errors, values: form.values }, { status: form.status })
  }
  const change = form.value
  const { intent } = change
  const visit = visitOf({ request, context })
  const refused = (status: number, errors: Errors) => data({ intent, errors }, { status })
  try {
    switch (change.intent) {
      case "save-profile":
        await saveProfile(scope, change)
        return { intent, done: msg`Name saved.` }
      case "save-picture":
        await savePicture(scope, change.picture)
        return { intent, done: msg`Picture saved.` }
      case "remove-picture":
        await removePicture(scope)
        return { intent, done: msg`Picture removed.` }
      case "save-notifications":
        await saveNotificationSettings(scope, {
          inApp: change.inApp === "on",
          byEmail: change.byEmail === "on",
        })
        return { intent, done: msg`Notifications saved.` }
      case "change-password": {
        const passwords = { current: change.current, next: change.password }
        const outcome = await changePassword(scope, visit, passwords)
        if (!outcome.ok) return refused(outcome.status, wordsForPassword(outcome))
        const done = msg`Password changed. All other browsers have been signed out.`
        return data({ intent, done }, { headers: outcome.headers })
      }
      case "change-address": {
        const { email: next, current: password, code } = change
        const outcome = await requestAddressChange(scope, visit, { next, password, code })
        if (!outcome.ok)
          return data(
            { intent, errors: wordsForPassword(outcome), values: { email: next } },
            { status: outcome.status },
          )
        return { intent, done: msg`We've emailed both addresses. Open both links within 24 hours.` }
      }
      case "stop-address-change":
        await stopAddressChange(scope, visit)
        return { intent, done: msg`Your email address stays the same.` }
      case "renew-recovery-codes": {
        const proof = { password: change.current ?? null, code: change.code }
        const outcome = await renewRecoveryCodes(scope, visit, proof)
        if (!outcome.ok) return refused(outcome.status, wordsForPassword(outcome))
        const { headers, recoveryCodes } = outcome
        return data({ intent, done: msg`Recovery codes created. Save them now.`, recoveryCodes }, { headers })
      }
      case "remove-second-factor": {
        const proof = { password: change.current ?? null, code: change.code }
        const outcome = await removeSecondFactor(scope, visit, proof)
        if (!outcome.ok) return refused(outcome.status, wordsForPassword(outcome))
        return data({ intent, done: msg`Two-factor authentication is off.` }, { headers: outcome.headers })
      }
      case "begin-passkey": {
        const outcome = await beginPasskey(scope, visit, change.current ?? null)
        const values = { name: change.name }
        if (outcome.ok)
          return data({ intent, values, passkeyOptions: outcome.options }, { headers: outcome.headers })
        return data({ intent, values, errors: wordsForPassword(outcome) }, { status: outcome.status })
      }
      case "add-passkey": {
        const outcome = await addPasskey(scope, visit, change)
        if (!outcome.ok) return refused(outcome.status, textFor(outcome))
        return { intent, done: msg`Passkey added. You can sign in with it from now on.` }
      }
      case "rename-passkey":
        await renamePasskey(scope, { id: change.passkeyId, name: change.name })
        return { intent, done: msg`Passkey renamed.` }
      case "remove-passkey": {
        const passkey = { id: change.passkeyId, password: change.current ?? null }
        const refusal = await removePasskey(scope, visit, passkey)
        if (refusal) {
          const values = { passkeyId: change.passkeyId }
          return data({ intent, errors: wordsForPassword(refusal), values }, { status: refusal.status })
        }
        return {
          intent,
          done: msg`Passkey removed. Other browsers that signed in with it have been signed out.`,
        }
      }
      case "end-session":
        await endSession(scope, visit, change.sessionId)
        return { intent, done: msg`Browser signed out.` }
      case "end-other-sessions":
        await endOtherSessions(scope, visit)
        return { intent, done: msg`All other browsers have been signed out.` }
      case "create-key": {
        const { key, name } = await createKey(scope, visit, newKeyOf(change))
        return { intent, done: msg`Key created.`, made: { key, name } }
      }
      case "delete-key":
        await deleteKey(scope, visit, change.keyId)
        return { intent, done: msg`Key deleted. Anything using it has lost access.` }
      case "delete-account": {
        const refusal = await refuseDeletion(scope, change.confirmation)
        if (refusal) return refused(refusal.status, { confirmation: wordsForDeletion(refusal) })
        const choices = readSpaceChoices(change)
        await requireSpaceChoices(scope, choices)
        const headers = await scope.identity.signOut({ ...visit, context })
        await deleteAccount(scope, scope.viewer.user, choices)
        return redirectDocument("/", { status: 303, headers })
      }
    }
  } catch (error) {
    if (!isRefusal(error)) throw error
    return refused(error.status, { [intent === "save-picture" ? "picture" : "form"]: dataOf(error) })
  }
}

/** With every box ticked it is a key without limits, which also covers scopes added later. */
function newKeyOf({ name, days, ...ticked }: AccountChange & { intent: "create-key" }) {
  const scopes = KEY_SCOPES.filter((scope) => ticked[scope])
  return {
    name,
    scopes: scopes.length === KEY_SCOPES.length ? null : scopes,
    days: days === "never" ? null : Number(days),
  }
}

const PICTURE = { field: "picture", limit: LARGEST_PICTURE, tooLarge: "picture-too-large" } as const

type Refused = Parameters<typeof textFor>[0]

function wordsForPassword(refused: Refused): Errors {
  return refused.problem === "wrong-credentials"
    ? { current: msg`That is not your password.` }
    : textFor(refused)
}

function wordsForDeletion(refused: Refused): Sentence {
  if (refused.problem === "wrong-credentials")
    return msg`That doesn't match your account. Nothing was deleted.`
  return textFor(refused).form ?? msg`Nothing was deleted.`
}

export default function AccountPage({ loaderData, actionData }: Route.ComponentProps) {
  const { t } = useLingui()
  const say = useSentences()
  const { now, account, notifies, plan, sharedSpaces } = loaderData
  const user = useUser()
  const offersSpaces = useOffersSpaces()
  const outcomeOf = (...intents: string[]): Outcome | undefined =>
    actionData && intents.includes(actionData.intent) ? sayOutcome(actionData, say) : undefined
  return (
    <Page narrow>
      <PageHead title={t`Account`} />
      {account ? (
        <>
          <ProfileForm user={user} outcome={outcomeOf("save-profile", "save-picture", "remove-picture")} />
          <PlanCard {...plan} change={t`The administrator of this server manages plans.`} />
          <AddressForm
            email={user.email}
            hasPassword={account.hasPassword}
            hasFactor={account.secondFactor !== null}
            pending={account.addressChange}
            outcome={outcomeOf("change-address", "stop-address-change")}
          />
          {account.hasPassword ? (
            <PasswordForm email={user.email} outcome={outcomeOf("change-password")} />
          ) : (
            <NoPassword />
          )}
          <SecondFactor
            factor={account.secondFactor}
            hasPassword={account.hasPassword}
            outcome={outcomeOf("renew-recovery-codes", "remove-second-factor")}
          />
          {account.passkeys ? (
            <Passkeys
              passkeys={account.passkeys}
              hasPassword={account.hasPassword}
              now={now}
              outcome={outcomeOf("begin-passkey", "add-passkey", "rename-passkey", "remove-passkey")}
            />
          ) : null}
          <Browsers
            browsers={account.browsers}
            now={now}
            outcome={outcomeOf("end-session", "end-other-sessions")}
          />
          <Section
            title={t`Security log`}
            about={t`Sign-ins, changes of your password, keys and the like, with time and browser.`}
          >
            <LinkButton to={href("/dashboard/account/security")} variant="secondary">
              <Trans>Open the security log</Trans>
            </LinkButton>
          </Section>
          <Keys keys={account.keys} now={now} outcome={outcomeOf("create-key", "delete-key")} />
        </>
      ) : (
        <>
          <PlanCard {...plan} change={t`You can change it under Billing, below.`} />
          <ClerkAccount />
        </>
      )}
      {offersSpaces ? <Notifications notifies={notifies} outcome={outcomeOf("save-notifications")} /> : null}
      <Section
        title={t`Your data`}
        about={t`Download one archive with your profile, conversations and files, and with what you wrote in spaces. Files in spaces stay with the space: the archive names those that you added.`}
      >
        <a
          href={href("/dashboard/account/export")}
          download
          className={buttonClass({ variant: "secondary" })}
        >
          <Trans>Download everything</Trans>
        </a>
      </Section>
      <DeleteAccount
        email={user.email}
        hasPassword={account?.hasPassword ?? false}
        sharedSpaces={sharedSpaces}
        outcome={outcomeOf("delete-account")}
      />
    </Page>
  )
}

function NoPassword() {
  const { t } = useLingui()
  return (
    <Section
      title={t`Password`}
      about={t`You sign in by single sign-on and have no password here. To choose one, request a link by email.`}
    >
      <a href={href("/sign-in/forgot-password")} className={buttonClass({ variant: "secondary" })}>
        <Trans>Choose a password</Trans>
      </a>
    </Section>
  )
}
