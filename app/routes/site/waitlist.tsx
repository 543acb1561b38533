import { Trans, useLingui } from "@lingui/react/macro"
import { msg } from "@lingui/core/macro"
import { data, href, redirect } from "react-router"
import { pageMeta } from "#app/features/site/page-meta.ts"
import { useSentences, type Sentence } from "#app/language/sentences.ts"
import { Alert } from "#app/ui/alert.tsx"
import { Button } from "#app/ui/button.tsx"
import { Card } from "#app/ui/card.tsx"
import { Field } from "#app/ui/field.tsx"
import { readForm } from "#server/http/form.ts"
import { readLanguage } from "#server/transport/language.ts"
import { rateLimitHeaders } from "#server/transport/rate-limit.ts"
import { servicesOf } from "#server/http/scope.ts"
import { networkIn } from "#server/http/visit.ts"
import { JoinWaitlist } from "#server/waitlist/contract.ts"
import { joinWaitlist } from "#server/waitlist/waitlist.ts"
import { WaitlistFrame } from "./waitlist-frame.tsx"
import type { Route } from "./+types/waitlist.ts"

/** Only a form: it needs no JavaScript. */
export const handle = { credential: "none", static: true }

export function loader({ request }: Route.LoaderArgs) {
  return { hasJoined: new URL(request.url).searchParams.has("joined") }
}

export async function action({ context, request }: Route.ActionArgs) {
  const services = servicesOf(context)
  const limit = services.limiters.waitlist.check(networkIn(context))
  if (!limit.success) {
    const errors = { email: msg`Too many requests from your network. Try again in a minute.` }
    return data({ errors, values: {} }, { status: 429, headers: rateLimitHeaders(limit) })
  }
  const form = await readForm(request, JoinWaitlist)
  if (!form.ok) return data({ errors: form.errors, values: form.values }, { status: form.status })
  await joinWaitlist(services, form.value, readLanguage(request))
  return redirect(href("/waitlist") + "?joined")
}

export const meta: Route.MetaFunction = ({ matches }) =>
  pageMeta(matches, {
    title: msg`Waitlist`,
    description: msg`Enter your email address, and the people who run this site will let you know when there is room.`,
    path: href("/waitlist"),
  })

export default function Waitlist({ loaderData, actionData }: Route.ComponentProps) {
  const { t } = useLingui()
  return (
    <WaitlistFrame
      title={t`Hear when the tide turns`}
      lead={t`Not ready to sign up, or sign-up is closed here? Enter your email address, and the people who run this site will let you know when there is room.`}
    >
      {loaderData.hasJoined ? (
        <Joined />
      ) : (
        <JoinForm errors={actionData?.errors} typed={actionData?.values} />
      )}
    </WaitlistFrame>
  )
}

function JoinForm({
  errors,
  typed,
}: {
  errors: { email?: Sentence; form?: Sentence } | undefined
  typed: Record<string, string> | undefined
}) {
  const { t } = useLingui()
  const say = useSentences()
  return (
    <Card>
      <form method="post" className="flex flex-col gap-4">
        <Field
          label={t`Email address`}
          name="email"
          type="email"
          autoComplete="email"
          inputMode="email"
          placeholder="ada@example.org"
          required
          maxLength={254}
          defaultValue={typed?.["email"]}
          error={say(errors?.email ?? errors?.form)}
          hint={t`We use it only for this, and show it to nobody else.`}
        />
        <Button type="submit">
          <Trans>Join the waitlist</Trans>
        </Button>
      </form>
    </Card>
  )
}

function Joined() {
  const { t } = useLingui()
  return (
    <>
      <Alert tone="success" title={t`Check your inbox`}>
        <Trans>
          We've sent you an email. Follow its link to confirm your place. Addresses that are already confirmed
          don't get a second email.
        </Trans>
      </Alert>
      <p className="mt-6 text-sm text-muted">
        <Trans>
          Until then, have a look at the{" "}
          <a className="text-accent-ink underline underline-offset-3" href={href("/blog")}>
            blog
          </a>{" "}
          and the{" "}
          <a className="text-accent-ink underline underline-offset-3" href={href("/features")}>
            features
          </a>
          .
        </Trans>
      </p>
    </>
  )
}
