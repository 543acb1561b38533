import { Trans, useLingui } from "@lingui/react/macro"
import { msg } from "@lingui/core/macro"
import { data, redirect } from "react-router"
import { pageMeta } from "#app/features/site/page-meta.ts"
import { useSentences, type Sentence } from "#app/language/sentences.ts"
import { Alert } from "#app/ui/alert.tsx"
import { Button } from "#app/ui/button.tsx"
import { Card } from "#app/ui/card.tsx"
import { Field } from "#app/ui/field.tsx"
import { readForm } from "#server/http/form.ts"
import { readLanguage } from "#server/http/language.ts"
import { rateLimitHeaders } from "#server/http/rate-limit.ts"
import { servicesOf } from "#server/http/scope.ts"
import { networkIn } from "#server/http/visit.ts"
import { JoinWaitlist } from "#server/waitlist/contract.ts"
import { joinWaitlist } from "#server/waitlist/waitlist.ts"
import { WaitlistFrame } from "./waitlist-frame.tsx"
import type { Route } from "./+types/waitlist.ts"

/** A form and nothing else: it needs none of our JavaScript. */
export const handle = { credential: "none", static: true }

export function loader({ request }: Route.LoaderArgs) {
  return { hasJoined: new URL(request.url).searchParams.has("joined") }
}

export async function action({ context, request }: Route.ActionArgs) {
  const services = servicesOf(context)
  const limit = services.limiters.waitlist.check(networkIn(context))
  if (!limit.success) {
    const errors = { email: msg`Too many addresses came from where you are. Try again in a minute.` }
    return data({ errors, values: {} }, { status: 429, headers: rateLimitHeaders(limit) })
  }
  const form = await readForm(request, JoinWaitlist)
  if (!form.ok) return data({ errors: form.errors, values: form.values }, { status: form.status })
  await joinWaitlist(services, form.value, readLanguage(request))
  return redirect("/waitlist?joined")
}

export const meta: Route.MetaFunction = ({ matches }) =>
  pageMeta(matches, {
    title: msg`Waitlist`,
    description: msg`Leave your address, and the people who run this site can tell you when there is room for you.`,
    path: "/waitlist",
  })

export default function Waitlist({ loaderData, actionData }: Route.ComponentProps) {
  const { t } = useLingui()
  return (
    <WaitlistFrame
      title={t`Be told when the tide turns`}
      lead={t`Not ready to sign up, or sign-up is closed here? Leave your address, and the people who run this site can tell you when there is room.`}
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
          label="E-mail address"
          name="email"
          type="email"
          autoComplete="email"
          inputMode="email"
          placeholder="ada@example.org"
          required
          maxLength={254}
          defaultValue={typed?.["email"]}
          error={say(errors?.email ?? errors?.form)}
          hint={t`It is kept for this alone, and shown to nobody else.`}
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
      <Alert tone="success" title={t`Look into your mail`}>
        <Trans>
          We have written to the address. Follow the link in the letter to take your place. An address that is
          confirmed already gets no second letter.
        </Trans>
      </Alert>
      <p className="mt-6 text-sm text-muted">
        <Trans>
          Until then there is the{" "}
          <a className="text-accent-ink underline underline-offset-3" href="/blog">
            blog
          </a>{" "}
          and the{" "}
          <a className="text-accent-ink underline underline-offset-3" href="/features">
            tour of the features
          </a>
          .
        </Trans>
      </p>
    </>
  )
}
