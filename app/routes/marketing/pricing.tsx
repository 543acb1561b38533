import { Trans, useLingui } from "@lingui/react/macro"
import { msg } from "@lingui/core/macro"
import type { ReactNode } from "react"
import { href, useRouteLoaderData } from "react-router"
import { SIGN_UP } from "#app/features/identity/addresses.ts"
import { PageHead } from "#app/features/site/page-head.tsx"
import { pageMeta } from "#app/features/site/page-meta.ts"
import type { loader as rootLoader } from "#app/root.tsx"
import { LinkButton } from "#app/ui/button.tsx"
import { classNames } from "#app/ui/class-names.ts"
import { Icon } from "#app/ui/icon.tsx"
import { servicesContext } from "#server/context.ts"
import type { Route } from "./+types/pricing.ts"
import { describePlan } from "./describe-plan.ts"

/** What this server actually allows: every figure on the page is a setting. */
export function loader({ context }: Route.LoaderArgs) {
  const { chat, identity, plans } = context.get(servicesContext).config
  return { plans, hasChat: chat.gateway.kind !== "missing", isClerk: identity.kind === "clerk" }
}

export const meta: Route.MetaFunction = ({ matches }) =>
  pageMeta(matches, {
    title: msg`Plans`,
    description: msg`Tideline is free to run yourself. A server has two plans, Free and Pro; this page shows what each includes on this server.`,
    path: href("/pricing"),
  })

export default function Pricing({ loaderData }: Route.ComponentProps) {
  const { t, i18n } = useLingui()
  const { plans, hasChat, isClerk } = loaderData
  const isSignedIn = useRouteLoaderData<typeof rootLoader>("root")?.isSignedIn ?? false
  return (
    <div className="mx-auto max-w-6xl px-5 pb-24 sm:px-8">
      <PageHead title={t`Plans on this server`}>
        <Trans>
          The software is free: Tideline is MIT-licensed and has no paid edition. The administrator of a
          server decides who is on which of two plans.
        </Trans>
      </PageHead>
      <div className="mt-4 grid gap-5 md:grid-cols-3">
        <Plan
          name={t`Free`}
          price={t`No charge`}
          note={t`What everybody gets after signing up.`}
          points={describePlan(plans.free, { hasChat, i18n })}
          isMarked
          action={
            <LinkButton to={isSignedIn ? href("/dashboard") : SIGN_UP} className="w-full">
              {isSignedIn ? <Trans>Open Tideline</Trans> : <Trans>Sign up</Trans>}
            </LinkButton>
          }
        />
        <Plan
          name={t`Pro`}
          price={isClerk ? t`Through Clerk` : t`On request`}
          note={isClerk ? t`Subscribed to in your Clerk account.` : t`Ask the administrator of this server.`}
          points={describePlan(plans.pro, { hasChat, i18n })}
        />
        <Plan
          name={t`Your own server`}
          price={t`No charge`}
          note={t`All of it, on your own machine.`}
          points={[
            t`Every limit on this page is configurable`,
            t`You decide who is on which plan`,
            t`Your database, mail relay and model`,
            t`The source, to read and to change`,
          ]}
          action={
            <LinkButton
              to={href("/docs/:page", { page: "self-hosting" })}
              variant="secondary"
              className="w-full"
            >
              <Trans>Host it yourself</Trans>
            </LinkButton>
          }
        />
      </div>
      <section className="mt-20 max-w-3xl">
        <h2 className="text-2xl font-semibold">
          <Trans>How a plan changes</Trans>
        </h2>
        <div className="prose mt-4">
          <p>
            <Trans>
              Your plan belongs to your account at the identity provider; the application only stores a copy.
            </Trans>{" "}
            {isClerk
              ? t`This server uses Clerk: subscribing there upgrades you to Pro, and cancelling the subscription moves you back.`
              : t`This server manages its own accounts: its administrator upgrades you to Pro, or back.`}{" "}
            <Trans>
              The new limits apply from your next request. Going back to Free deletes nothing, but you can't
              add files until yours fit the quota again.
            </Trans>
          </p>
        </div>
      </section>
    </div>
  )
}

function Plan({
  name,
  price,
  note,
  points,
  action,
  isMarked = false,
}: {
  name: string
  price: string
  note: string
  points: string[]
  action?: ReactNode
  isMarked?: boolean
}) {
  return (
    <section
      className={classNames(
        "flex flex-col rounded-xl border bg-surface p-6 sm:p-7",
        isMarked ? "border-accent shadow-md" : "border-line shadow-sm",
      )}
    >
      <h2 className="text-lg font-semibold">{name}</h2>
      <p className="mt-4 text-2xl font-semibold">{price}</p>
      <p className="mt-1 text-sm text-muted">{note}</p>
      <ul className="mt-6 mb-8 grid gap-3 border-t border-line pt-6 text-sm">
        {points.map((point) => (
          <li key={point} className="flex gap-2.5">
            <Icon name="check" className="mt-0.75 text-accent-ink" />
            {point}
          </li>
        ))}
      </ul>
      {action ? <div className="mt-auto">{action}</div> : null}
    </section>
  )
}
