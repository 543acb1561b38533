import { msg } from "@lingui/core/macro"
import { Trans, useLingui } from "@lingui/react/macro"
import { data, Form, href, redirect } from "react-router"
import * as v from "valibot"
import { SIGN_IN } from "#app/features/identity/addresses.ts"
import { pageMeta } from "#app/features/site/page-meta.ts"
import { Button, LinkButton } from "#app/ui/button.tsx"
import { requireForms } from "#server/accounts/accounts.ts"
import { AddressChangeDone, AddressChangeForm } from "#server/accounts/contract.ts"
import { requireOwnAccount } from "#server/accounts/own-account.ts"
import { readForm } from "#server/http/form.ts"
import { servicesOf, sessionOf } from "#server/http/scope.ts"
import { SECRET_ADDRESS } from "#server/http/secret-address.ts"
import { visitOf } from "#server/http/visit.ts"
import { PageHead } from "./page-text.tsx"
import type { Route } from "./+types/new-address.ts"

/** Opening the link changes nothing: programs that check emails for viruses open it too. */
export async function loader({ context, url }: Route.LoaderArgs) {
  requireForms(servicesOf(context))
  const account = requireOwnAccount(servicesOf(context))
  const isSignedIn = sessionOf(context) !== null
  const done = v.parse(AddressChangeDone, url.searchParams.get("done"))
  if (done) return data({ done, link: null, token: "", isSignedIn })
  const token = url.searchParams.get("token") ?? ""
  const link = token.length > 100 ? null : await account.readAddressLink(token)
  return data({ done: null, link, token, isSignedIn }, { status: link ? 200 : 400 })
}

export async function action({ context, request }: Route.ActionArgs) {
  requireForms(servicesOf(context))
  const account = requireOwnAccount(servicesOf(context))
  const visit = visitOf({ request, context })
  const form = await readForm(request, AddressChangeForm)
  if (!form.ok) return redirect(`${href("/sign-in/new-address")}?done=expired`, 303)
  const { token, intent } = form.value
  const done =
    intent === "confirm"
      ? await account.confirmAddressChange(visit, sessionOf(context), token)
      : (await account.stopAddressChange(visit, { token }))
        ? "stopped"
        : "expired"
  return redirect(`${href("/sign-in/new-address")}?done=${done}`, 303)
}

/** The URL and the form hold the link's secret. */
export const headers: Route.HeadersFunction = () => SECRET_ADDRESS

export const meta: Route.MetaFunction = ({ matches }) => [
  ...pageMeta(matches, {
    title: msg`Change your email address`,
    description: msg`Confirm the new email address of your account.`,
    path: href("/sign-in/new-address"),
  }),
  { name: "robots", content: "noindex" },
]

export default function NewAddressPage({ loaderData }: Route.ComponentProps) {
  const { t } = useLingui()
  const { done, link, token, isSignedIn } = loaderData
  if (!link) return <Done done={done ?? "expired"} isSignedIn={isSignedIn} />
  const { previous, next, isNew, canConfirm } = link
  return (
    <>
      <PageHead title={canConfirm ? t`Confirm the new email address` : t`A new email address`}>
        <Trans>
          The account of <strong className="font-medium wrap-anywhere">{previous}</strong> is to change to{" "}
          <strong className="font-medium wrap-anywhere">{next}</strong>.
        </Trans>{" "}
        {canConfirm ? (
          <Trans>It changes once both addresses are confirmed.</Trans>
        ) : isNew ? (
          <Trans>This address is confirmed.</Trans>
        ) : (
          <Trans>If you didn't request this, stop the change here.</Trans>
        )}
      </PageHead>
      <div className="flex flex-col gap-3">
        {canConfirm ? (
          <Decision token={token} intent="confirm">
            {t`Confirm`}
          </Decision>
        ) : null}
        <Decision token={token} intent="stop">
          {t`Stop the change`}
        </Decision>
      </div>
    </>
  )
}

function Decision({
  token,
  intent,
  children,
}: {
  token: string
  intent: AddressChangeForm["intent"]
  children: string
}) {
  return (
    <Form method="post">
      <input type="hidden" name="token" value={token} />
      <input type="hidden" name="intent" value={intent} />
      <Button type="submit" variant={intent === "confirm" ? "primary" : "secondary"} className="w-full">
        {children}
      </Button>
    </Form>
  )
}

function Done({ done, isSignedIn }: { done: NonNullable<AddressChangeDone>; isSignedIn: boolean }) {
  const { t } = useLingui()
  const titles = {
    waiting: t`One more confirmation`,
    changed: t`Your email address is changed`,
    stopped: t`The change is stopped`,
    expired: t`This link is incomplete or has expired`,
  }
  const advice = {
    waiting: t`This address is confirmed. The change waits for the link that we emailed to the other address.`,
    changed: t`Sign in with the new address from now on.`,
    stopped: t`The account keeps its email address. If you didn't request the change, choose a new password.`,
    expired: t`A link works for 24 hours, until it is used or another change is requested. Request the change again on your account page.`,
  }
  return (
    <>
      <PageHead title={titles[done]}>{advice[done]}</PageHead>
      <div className="flex flex-wrap gap-3">
        <LinkButton to={isSignedIn ? href("/dashboard/account") : SIGN_IN} reloadDocument>
          {isSignedIn ? t`To your account` : t`Sign in`}
        </LinkButton>
        {done === "stopped" ? (
          <LinkButton to={href("/sign-in/forgot-password")} variant="secondary">
            <Trans>Reset your password</Trans>
          </LinkButton>
        ) : null}
      </div>
    </>
  )
}
