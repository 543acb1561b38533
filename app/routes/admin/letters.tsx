import type { MessageDescriptor } from "@lingui/core"
import { msg } from "@lingui/core/macro"
import { Plural, Trans, useLingui } from "@lingui/react/macro"
import { parse } from "valibot"
import { i18nOf } from "#app/language/i18n.ts"
import { Badge } from "#app/ui/badge.tsx"
import { RelativeTime } from "#app/ui/relative-time.tsx"
import { requireOperatorScope } from "#server/http/operator-scope.ts"
import { countOutbox, listOutbox } from "#server/mail/outbox.ts"
import { LETTER_STATES, LetterAct, LetterFilter, type LetterState } from "#server/operator/contract.ts"
import { dropUnsentLetter, retryAllLetters, retryLetter } from "#server/operator/letters.ts"
import { ActForm, CarefulActForm } from "./act-form.tsx"
import { KIND_NAMES } from "./letter-kinds.ts"
import { pageOf } from "./page-of.ts"
import { performAct } from "./perform-act.ts"
import { Head, Older, Row, Rows } from "./rows.tsx"
import type { Route } from "./+types/letters.ts"

export const meta: Route.MetaFunction = ({ matches }) => [
  { title: i18nOf(matches)._(msg`Emails · Operator · Tideline`) },
]

export async function loader({ context, url }: Route.LoaderArgs) {
  const scope = await requireOperatorScope(context)
  const state = parse(LetterFilter, url.searchParams.get("state") ?? undefined)
  const [page, counts] = await Promise.all([
    pageOf(url, ({ before, limit }) => listOutbox(scope, { state, limit, ...(before && { before }) })),
    countOutbox(scope),
  ])
  return { ...page, state, counts, now: Date.now() }
}

export function action(args: Route.ActionArgs) {
  return performAct(args, LetterAct, (scope, form) => {
    switch (form.intent) {
      case "retry":
        return retryLetter(scope, form.letterId)
      case "retry-all":
        return retryAllLetters(scope)
      case "drop":
        return dropUnsentLetter(scope, form.letterId)
    }
  })
}

const WORDS: Record<LetterState, { label: MessageDescriptor; empty: MessageDescriptor }> = {
  queued: { label: msg`Waiting`, empty: msg`No emails are waiting.` },
  parked: { label: msg`Parked`, empty: msg`No emails are parked: all have been sent or are on their way.` },
  sent: { label: msg`Sent`, empty: msg`No emails were sent in the last month.` },
}

export default function Letters({ loaderData, actionData }: Route.ComponentProps) {
  const { t } = useLingui()
  const { rows, older, state, counts, now } = loaderData
  return (
    <>
      <Head title={t`Emails`} problem={actionData?.problem}>
        <Trans>
          An email is parked when the mail server rejects it permanently, when all thirty attempts fail, or
          when its link expires. The text of emails is never shown here.
        </Trans>
      </Head>
      <nav aria-label={t`Emails by state`} className="mt-5 flex flex-wrap items-center gap-1">
        {LETTER_STATES.map((each) => (
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
            <ActForm intent="retry-all" whom={t`that are parked`}>{t`Resend all`}</ActForm>
          </div>
        ) : null}
      </nav>
      <Rows empty={t(WORDS[state].empty)}>
        {rows.map((letter) => (
          <LetterRow key={letter._id} letter={letter} now={now} />
        ))}
      </Rows>
      <Older before={older} query={{ state }} />
    </>
  )
}

type ListedLetter = Route.ComponentProps["loaderData"]["rows"][number]

function LetterRow({ letter, now }: { letter: ListedLetter; now: number }) {
  const { t } = useLingui()
  const { _id: letterId, recipient, kind, state, attempts, lastError, expiresAt, sentAt } = letter
  const isSpent = expiresAt !== null && expiresAt < now
  return (
    <Row
      title={recipient}
      mark={<Badge tone={state === "parked" ? "warning" : "neutral"}>{t(KIND_NAMES[kind])}</Badge>}
      about={
        <>
          <Trans>
            Written <RelativeTime at={letter._creationTime} now={now} />
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
        <ActForm intent="retry" about={{ letterId }} whom={recipient}>{t`Send again`}</ActForm>
      ) : null}
      {state === "sent" ? null : (
        <CarefulActForm
          intent="drop"
          about={{ letterId }}
          whom={recipient}
          warning={t`It will never be sent, and is deleted.`}
        >{t`Drop`}</CarefulActForm>
      )}
    </Row>
  )
}
