import { msg } from "@lingui/core/macro"
import { Trans, useLingui } from "@lingui/react/macro"
import { href, useActionData } from "react-router"
import { useFormats } from "#app/language/formats.ts"
import { i18nOf } from "#app/language/i18n.ts"
import { Alert } from "#app/ui/alert.tsx"
import { Badge } from "#app/ui/badge.tsx"
import { RelativeTime } from "#app/ui/relative-time.tsx"
import { performActs, requireOperatorScope } from "#server/http/operator-scope.ts"
import { SECRET_ADDRESS } from "#server/http/secret-address.ts"
import type { FormOutcome } from "#server/operations/form-contract.ts"
import { operatorOperations } from "#server/operator/operations-contract.ts"
import { findFactorHolders, listPeople, type ListedPerson } from "#server/operator/people.ts"
import type { ValueOf } from "#live/contract"
import { ActForm, CarefulActForm } from "./act-form.tsx"
import { AddressSearch } from "./address-search.tsx"
import { pageOf } from "./page-of.ts"
import { Head, Older, Row, Rows } from "./rows.tsx"
import type { Route } from "./+types/people.ts"

/** A response may hold a password link. */
export const headers: Route.HeadersFunction = () => SECRET_ADDRESS

export const meta: Route.MetaFunction = ({ matches }) => [
  { title: i18nOf(matches)._(msg`People · Administration · Tideline`) },
]

export async function loader({ context, url }: Route.LoaderArgs) {
  const scope = await requireOperatorScope(context)
  const page = await pageOf(url, (place) => listPeople(scope, place))
  const { setPlan, ownAccount, suspension, makePasswordLink: canMakeLinks } = scope.identity
  const ids = page.rows.map(({ clerkId }) => clerkId)
  const [suspended = [], factorHolders] = await Promise.all([
    suspension?.among(ids),
    findFactorHolders(scope, ids),
  ])
  const can = {
    plan: Boolean(setPlan),
    signOut: Boolean(ownAccount),
    suspend: Boolean(suspension),
    makeLink: Boolean(canMakeLinks),
  }
  const viewerId = scope.viewer.session.userId
  return { ...page, now: Date.now(), can, suspended, factorHolders, viewerId }
}

export const action = performActs

export default function People({ loaderData }: Route.ComponentProps) {
  const { t } = useLingui()
  const { rows, older, q, now, can, suspended, factorHolders, viewerId } = loaderData
  return (
    <>
      <Head title={t`People`}>
        <Trans>Everybody who has opened the dashboard at least once, newest first.</Trans>
      </Head>
      <PasswordLink />
      {can.plan ? null : <ChangedAtClerk />}
      <AddressSearch q={q} all={href("/admin/people")} />
      <Rows empty={q ? t`No email address contains “${q}”.` : t`Nobody has signed up yet.`}>
        {rows.map((person) => (
          <PersonRow
            key={person._id}
            person={person}
            now={now}
            can={{ ...can, removeFactors: factorHolders.includes(person.clerkId) }}
            isSuspended={suspended.includes(person.clerkId)}
            isViewer={person.clerkId === viewerId}
          />
        ))}
      </Rows>
      <Older before={older} query={q ? { q } : {}} />
    </>
  )
}

/** With Clerk the acts on this page cannot work, so none is offered. */
function ChangedAtClerk() {
  const { t } = useLingui()
  return (
    <Alert title={t`Plans and sessions are managed in Clerk`} className="mt-5 max-w-2xl">
      <Trans>
        Clerk manages the accounts, and Clerk Billing decides who is on Pro: a plan set here would be
        overwritten the next time Clerk is asked. Open{" "}
        <a href="https://dashboard.clerk.com" rel="noreferrer" className="underline underline-offset-3">
          Clerk's dashboard
        </a>
        , choose the person under Users, and change the subscription or end the sessions there. The plan is
        updated here by Clerk's webhook, or on the person's next visit.
      </Trans>
    </Alert>
  )
}

function PersonRow({
  person,
  now,
  can,
  isSuspended,
  isViewer,
}: {
  person: ListedPerson
  now: number
  can: Record<"plan" | "signOut" | "suspend" | "makeLink" | "removeFactors", boolean>
  isSuspended: boolean
  isViewer: boolean
}) {
  const { t } = useLingui()
  const { clerkId: userId, email, name, plan, used, _creationTime } = person
  const size = useFormats().bytes(used)
  const other = plan === "pro" ? "free" : "pro"
  return (
    <Row
      title={email || t`No address`}
      mark={
        <>
          {plan === "pro" ? (
            <Badge tone="accent">{t`Pro`}</Badge>
          ) : (
            <Badge>
              <Trans>Free</Trans>
            </Badge>
          )}
          {isSuspended ? <Badge tone="danger">{t`Suspended`}</Badge> : null}
        </>
      }
      about={
        <>
          {name ? `${name}, ` : null}
          <Trans>
            {size} stored · joined <RelativeTime at={_creationTime} now={now} />
          </Trans>
        </>
      }
    >
      {can.plan ? (
        <ActForm of={operatorOperations.changePlan} values={{ userId, plan: other }} whom={email}>
          {other === "pro" ? t`Upgrade to Pro` : t`Change to Free`}
        </ActForm>
      ) : null}
      {can.makeLink && !isViewer ? (
        <CarefulActForm
          of={operatorOperations.makePasswordLink}
          values={{ userId }}
          whom={email}
          warning={t`This shows a link that sets a new password, once, for an hour. Setting it signs them out everywhere and deletes their API keys.`}
        >{t`Create password link`}</CarefulActForm>
      ) : null}
      {can.signOut && !isSuspended ? (
        <CarefulActForm
          of={operatorOperations.signOut}
          values={{ userId }}
          whom={email}
          warning={t`This signs them out of every browser. API keys keep working.`}
        >{t`Sign out everywhere`}</CarefulActForm>
      ) : null}
      {can.removeFactors ? (
        <CarefulActForm
          of={operatorOperations.removeFactors}
          values={{ userId }}
          whom={email}
          warning={t`For people who have lost their phone and their recovery codes. Make sure it is them: their password alone then signs them in.`}
        >{t`Remove second factors`}</CarefulActForm>
      ) : null}
      {can.suspend && !isViewer && !isSuspended ? (
        <CarefulActForm
          of={operatorOperations.suspend}
          values={{ userId }}
          whom={email}
          warning={t`This signs them out everywhere and stops their uploads, downloads, replies and API keys, until you allow them again. Their data stays.`}
        >{t`Suspend`}</CarefulActForm>
      ) : null}
      {can.suspend && isSuspended ? (
        <ActForm of={operatorOperations.allow} values={{ userId }} whom={email}>{t`Allow again`}</ActForm>
      ) : null}
    </Row>
  )
}

/** Shown once: it is stored nowhere that an operator can read. */
function PasswordLink() {
  const { t } = useLingui()
  const outcome = useActionData<FormOutcome>()
  if (outcome?.operation !== operatorOperations.makePasswordLink.name || !outcome.output) return null
  const { email, link } = outcome.output as ValueOf<typeof operatorOperations.makePasswordLink>
  return (
    <Alert tone="success" title={t`Password link for ${email}`} className="mt-5 max-w-3xl">
      <Trans>Don't share it with anyone else. It works once, for an hour, and won't be shown again.</Trans>
      <code className="mt-2 block font-mono text-sm break-all select-all">{link}</code>
    </Alert>
  )
}
