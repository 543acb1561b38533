import { msg } from "@lingui/core/macro"
import { Trans, useLingui } from "@lingui/react/macro"
import { href } from "react-router"
import { PlainForm } from "#app/features/operations/plain-form.tsx"
import { i18nOf } from "#app/language/i18n.ts"
import { Badge } from "#app/ui/badge.tsx"
import { Button, buttonClass } from "#app/ui/button.tsx"
import { Field } from "#app/ui/field.tsx"
import { RelativeTime } from "#app/ui/relative-time.tsx"
import { performActs, requireOperatorScope } from "#server/http/operator-scope.ts"
import { operatorOperations } from "#server/operator/operations-contract.ts"
import { listLatestPlaces } from "#server/waitlist/waitlist.ts"
import { ActForm, useDone } from "./act-form.tsx"
import { pageOf } from "./page-of.ts"
import { Head, Older, Row, Rows } from "./rows.tsx"
import type { Route } from "./+types/waitlist.ts"

export const meta: Route.MetaFunction = ({ matches }) => [
  { title: i18nOf(matches)._(msg`Waitlist · Administration · Tideline`) },
]

export async function loader({ context, url }: Route.LoaderArgs) {
  const scope = await requireOperatorScope(context)
  const page = await pageOf(url, (place) => listLatestPlaces(scope, place))
  return { ...page, now: Date.now() }
}

export const action = performActs

export default function Waitlist({ loaderData }: Route.ComponentProps) {
  const { t } = useLingui()
  const { rows, older, now } = loaderData
  return (
    <>
      <Head title={t`Waitlist`}>
        <Trans>
          People who joined the waitlist, newest first. An invitation is an email with a link that lets one
          address sign up, once, within 14 days.
        </Trans>
      </Head>
      <div className="mt-5 flex flex-wrap items-end gap-3">
        <PlainForm
          of={operatorOperations.invite}
          next={useDone()}
          className="flex max-w-xl flex-1 basis-72 items-end gap-2"
        >
          <Field
            className="flex-1"
            label={t`Invite an email address, on the list or not`}
            name="email"
            type="email"
            autoComplete="off"
            required
            maxLength={254}
          />
          <Button type="submit">{t`Invite`}</Button>
        </PlainForm>
        <a href={href("/admin/waitlist/export")} download className={buttonClass({ variant: "secondary" })}>
          <Trans>Export as CSV</Trans>
        </a>
      </div>
      <Rows empty={t`Nobody is on the waitlist.`}>
        {rows.map((place) => (
          <PlaceRow key={place._id} place={place} now={now} />
        ))}
      </Rows>
      <Older before={older} />
    </>
  )
}

type Place = Route.ComponentProps["loaderData"]["rows"][number]

function PlaceRow({ place, now }: { place: Place; now: number }) {
  const { t } = useLingui()
  const { email, _creationTime, confirmedAt, invitedAt, joinedAt } = place
  return (
    <Row
      title={email}
      mark={<State place={place} />}
      about={
        <>
          <Trans>
            Asked <RelativeTime at={_creationTime} now={now} />
          </Trans>
          {confirmedAt === null ? null : (
            <Trans>
              , confirmed <RelativeTime at={confirmedAt} now={now} />
            </Trans>
          )}
          {invitedAt === null ? null : (
            <Trans>
              , invited <RelativeTime at={invitedAt} now={now} />
            </Trans>
          )}
        </>
      }
    >
      {joinedAt === null ? (
        <ActForm of={operatorOperations.invite} values={{ email }} whom={email}>
          {invitedAt === null ? t`Invite` : t`Invite again`}
        </ActForm>
      ) : null}
    </Row>
  )
}

function State({ place: { confirmedAt, invitedAt, joinedAt } }: { place: Place }) {
  const { t } = useLingui()
  if (joinedAt !== null) return <Badge tone="success">{t`Joined`}</Badge>
  if (invitedAt !== null) return <Badge tone="accent">{t`Invited`}</Badge>
  return confirmedAt === null ? (
    <Badge>
      <Trans>Not confirmed</Trans>
    </Badge>
  ) : (
    <Badge tone="accent">{t`Confirmed`}</Badge>
  )
}
