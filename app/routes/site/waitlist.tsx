import { data, redirect } from "react-router"
import { pageMeta } from "#app/features/site/page-meta.ts"
import { Alert } from "#app/ui/alert.tsx"
import { Button } from "#app/ui/button.tsx"
import { Card } from "#app/ui/card.tsx"
import { Field } from "#app/ui/field.tsx"
import { readForm } from "#server/http/form.ts"
import { rateLimitHeaders } from "#server/http/rate-limit.ts"
import { servicesOf } from "#server/http/scope.ts"
import { visitOf } from "#server/http/visit.ts"
import { JoinWaitlist } from "#server/waitlist/contract.ts"
import { joinWaitlist } from "#server/waitlist/waitlist.ts"
import { WaitlistFrame } from "./waitlist-frame.tsx"
import type { Route } from "./+types/waitlist.ts"

/** A form and nothing else: it needs none of our JavaScript. */
export const handle = { static: true }

export function loader({ request }: Route.LoaderArgs) {
  return { hasJoined: new URL(request.url).searchParams.has("joined") }
}

export async function action({ context, request }: Route.ActionArgs) {
  const services = servicesOf(context)
  const limit = services.limiters.waitlist.check(visitOf({ request, context }).address)
  if (!limit.success) {
    const errors = { email: "Too many addresses came from where you are. Try again in a minute." }
    return data({ errors, values: {} }, { status: 429, headers: rateLimitHeaders(limit) })
  }
  const form = await readForm(request, JoinWaitlist)
  if (!form.ok) return data({ errors: form.errors, values: form.values }, { status: form.status })
  await joinWaitlist(services, form.value)
  return redirect("/waitlist?joined")
}

export const meta: Route.MetaFunction = ({ matches }) =>
  pageMeta(matches, {
    title: "Waitlist",
    description:
      "Leave your address, and the people who run this site can tell you when there is room for you.",
    path: "/waitlist",
  })

export default function Waitlist({ loaderData, actionData }: Route.ComponentProps) {
  return (
    <WaitlistFrame
      title="Be told when the tide turns"
      lead="Not ready to sign up, or sign-up is closed here? Leave your address, and the people who run this site can tell you when there is room."
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
  errors: { email?: string; form?: string } | undefined
  typed: Record<string, string> | undefined
}) {
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
          error={errors?.email ?? errors?.form}
          hint="It is kept for this alone, and shown to nobody else."
        />
        <Button type="submit">Join the waitlist</Button>
      </form>
    </Card>
  )
}

function Joined() {
  return (
    <>
      <Alert tone="success" title="Look into your mail">
        We have written to the address. Follow the link in the letter to take your place. An address that is
        confirmed already gets no second letter.
      </Alert>
      <p className="mt-6 text-sm text-muted">
        Until then there is the{" "}
        <a className="text-accent-ink underline underline-offset-3" href="/blog">
          blog
        </a>{" "}
        and the{" "}
        <a className="text-accent-ink underline underline-offset-3" href="/features">
          tour of the features
        </a>
        .
      </p>
    </>
  )
}
