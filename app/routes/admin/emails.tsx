import type { MessageDescriptor } from "@lingui/core"
import { msg } from "@lingui/core/macro"
import { Plural, Trans, useLingui } from "@lingui/react/macro"
import * as v from "valibot"
import { i18nOf } from "#app/language/i18n.ts"
import { Badge } from "#app/ui/badge.tsx"
import { RelativeTime } from "#app/ui/relative-time.tsx"
import { performActs, requireOperatorScope } from "#server/http/operator-scope.ts"
import { countOutbox, listOutbox } from "#server/mail/outbox.ts"
import { EMAIL_STATES, EmailFilter, type EmailState } from "#server/operator/contract.ts"
import { operatorOperations } from "#server/operator/operations-contract.ts"
import { ActForm, CarefulActForm } from "./act-form.tsx"
import { KIND_NAMES } from "./email-kinds.ts"
import { pageOf } from "./page-of.ts"
import { Head, Older, Row, Rows } from "./rows.tsx"
import type { Route } from "./+types/emails.ts"

export const meta: Route.MetaFunction = ({ matches }) => [
  { title: i18nOf(matches)._(msg`Emails · Administration · Tideline`) },
]

export async function loader({ context, url }: Route.LoaderArgs) {
  const scope = await requireOperatorScope(context)
  const state = v.parse(EmailFilter, url.searchParams.get("state") ?? undefined)
  const [page, counts] = await Promise.all([
    pageOf(url, ({ before, limit }) => listOutbox(scope, { state, limit, ...(before && { before }) })),
    countOutbox(scope),
  ])
  return { ...page, state, counts, now: Date.now() }
}

export const action = performActs

const WORDS: Record<EmailState, { label: MessageDescriptor; empty: MessageDescriptor }> = {
  queued: { label: msg`Waiting`, empty: msg`No emails are waiting.` },
  parked: { label: msg`Parked`, empty: msg`No emails are parked: all have been sent or are on their way.` },
  sent: { label: msg`Sent`, empty: msg`No emails were sent in the last month.` },
}

export default function Emails({ loaderData }: Route.ComponentProps) {
  const { t } = useLingui()
  const { rows, older, state, counts, now } = loaderData
  return (
    <>
      <Head title={t`Emails`}>
        <Trans>
          An email is parked when the mail server rejects it permanently, when all thirty attempts fail, or
          when its link expires. The text of emails is never shown here.
        </Trans>
      </Head>
      <nav aria-label={t`Emails by state`} className="mt-5 flex flex-wrap items-center gap-1">
        {EMAIL_STATES.map((each) => (
          <a
            key={each}
            href={`?${new URLSearchParams({ state: each })}`}
            aria-current={each === state ? "page" : undefined}
            className="flex h-9 items-center gap-2 rounded-md border border-transparent px-3 text-sm font-medium text-muted hover:bg-hover aria-[current=page]:border-line aria-[current=page]:bg-surface aria-[current=page]:text-ink touch:min-h-11"
          >
            {t(WORDS[each].label)}
            <span className="font-normal tabular-nums">{counts[each]}</span>
          </a>
        ))}
        {state === "parked" && rows.length > 1 ? (
          <div className="ml-auto">
            <ActForm of={operatorOperations.retryEmails} whom={t`that are parked`}>{t`Resend all`}</ActForm>
          </div>
        ) : null}
      </nav>
      <Rows empty={t(WORDS[state].empty)}>
        {rows.map((message) => (
          <EmailRow key={message._id} message={message} now={now} />
        ))}
      </Rows>
      <Older before={older} query={{ state }} />
    </>
  )
}

type ListedEmail = Route.ComponentProps["loaderData"]["rows"][number]

function EmailRow({ message, now }: { message: ListedEmail; now: number }) {
  const { t } = useLingui()
  const { _id: emailId, recipient, kind, state, attempts, lastError, expiresAt, sentAt } = message
  const isSpent = expiresAt !== null && expiresAt < now
  return (
    <Row
      title={recipient}
      mark={<Badge tone={state === "parked" ? "warning" : "neutral"}>{t(KIND_NAMES[kind])}</Badge>}
      about={
        <>
          <Trans>
            Written <RelativeTime at={message._creationTime} now={now} />
          </Trans>
          {sentAt === null ? null : (
            <Trans>
              , sent <RelativeTime at={sentAt} now={now} />
            </Trans>
          )}
          {state === "sent" ? null : <Plural value={attempts} one=", # attempt" other=", # attempts" />}
          {state === "parked" && isSpent ? t`, link expired` : null}
          {lastError ? <span className="mt-1 block font-mono text-xs">{lastError}</span> : null}
        </>
      }
    >
      {state === "parked" && !isSpent ? (
        <ActForm
          of={operatorOperations.retryEmail}
          values={{ emailId }}
          whom={recipient}
        >{t`Send again`}</ActForm>
      ) : null}
      {state === "sent" ? null : (
        <CarefulActForm
          of={operatorOperations.dropEmail}
          values={{ emailId }}
          whom={recipient}
          warning={t`The email is deleted and never sent.`}
        >{t`Discard`}</CarefulActForm>
      )}
    </Row>
  )
}
