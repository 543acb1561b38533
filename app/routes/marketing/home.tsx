import { Trans, useLingui } from "@lingui/react/macro"
import { msg } from "@lingui/core/macro"
import { href, useRouteLoaderData } from "react-router"
import { SIGN_UP } from "#app/features/identity/addresses.ts"
import { CopyButton } from "#app/features/site/copy-button.tsx"
import { originOf, pageMeta } from "#app/features/site/page-meta.ts"
import { i18nOf } from "#app/language/i18n.ts"
import { Section } from "#app/features/site/section.tsx"
import { LinkButton } from "#app/ui/button.tsx"
import { Icon } from "#app/ui/icon.tsx"
import type { loader as rootLoader } from "#app/root.tsx"
import { servicesContext } from "#server/context.ts"
import type { Route } from "./+types/home.ts"
import { LiveDemo } from "./live-demo.tsx"
import { ProductShots } from "./product-shots.tsx"
import { Questions, questionsForSearch } from "./questions.tsx"
import { WhatIsInIt } from "./what-is-in-it.tsx"

const DESCRIPTION = msg`Chat with any model, share files and conversations in spaces, and see every change on every screen as it happens. Open source, on your own server: one process, one PostgreSQL, two commands.`

/** Does not query the database: the boats are the latest that the process received. */
export function loader({ context, request }: Route.LoaderArgs) {
  const refused = new URL(request.url).searchParams.get("refused")
  return {
    boats: context.get(servicesContext).demo?.boats() ?? null,
    refused: refused === "429" ? ("quick" as const) : refused === null ? null : ("failed" as const),
  }
}

export const meta: Route.MetaFunction = ({ matches }) => {
  const i18n = i18nOf(matches)
  return pageMeta(matches, {
    title: msg`Tideline: your team's AI workspace, on your own server`,
    description: DESCRIPTION,
    path: "/",
    structuredData: [
      { "@type": "WebSite", name: "Tideline", url: `${originOf(matches)}/` },
      {
        "@type": "SoftwareApplication",
        name: "Tideline",
        description: i18n._(DESCRIPTION),
        applicationCategory: "BusinessApplication",
        operatingSystem: "Linux, macOS",
        license: "https://opensource.org/license/mit",
        offers: { "@type": "Offer", price: "0", priceCurrency: "USD" },
      },
      questionsForSearch(i18n),
    ],
  })
}

export default function Home({ loaderData }: Route.ComponentProps) {
  const { t } = useLingui()
  const { boats, refused } = loaderData
  return (
    <>
      <Hero />
      {boats && (
        <div className="overflow-hidden border-y border-line bg-sunken">
          <Section
            title={t`Every record on the screen is live. Try it.`}
            lead={t`Whatever writes to the database, whether a click, a script or you in psql, shows on every open screen: PostgreSQL's own log carries the commit there, and no code has to announce it.`}
          >
            <LiveDemo boats={boats} refused={refused} />
          </Section>
        </div>
      )}
      <Section title={t`What your team gets`}>
        <WhatIsInIt />
      </Section>
      <div className="border-t border-line bg-sunken">
        <Section title={t`Frequently asked questions`}>
          <Questions />
        </Section>
      </div>
    </>
  )
}

function Hero() {
  const isSignedIn = useRouteLoaderData<typeof rootLoader>("root")?.isSignedIn ?? false
  return (
    <section className="relative overflow-hidden">
      <div
        aria-hidden="true"
        className="absolute inset-x-0 -top-48 -z-10 h-[56rem] bg-[radial-gradient(50%_60%_at_50%_30%,var(--color-accent-soft),transparent)]"
      />
      <div className="mx-auto max-w-6xl px-5 pt-14 pb-16 sm:px-8 sm:pt-20 sm:pb-24">
        <div className="mx-auto max-w-4xl text-center">
          <h1 className="text-display font-semibold">
            <Trans>Your team's AI workspace, on your own server.</Trans>
          </h1>
          <p className="mx-auto mt-6 max-w-2xl text-lg text-muted sm:text-xl sm:leading-8 sm:tracking-normal">
            <Trans>
              Chat with any model, share files and conversations, and watch every change arrive on every
              screen as it happens. Open source, one process and PostgreSQL; nothing leaves your machine
              unless you say so.
            </Trans>
          </p>
          <div className="mt-8 flex flex-wrap justify-center gap-3">
            <LinkButton to={isSignedIn ? href("/dashboard") : SIGN_UP} size="lg">
              {isSignedIn ? <Trans>Open Tideline</Trans> : <Trans>Try it now</Trans>}
              <Icon name="arrow-right" />
            </LinkButton>
            <LinkButton to={href("/docs/:page", { page: "self-hosting" })} variant="secondary" size="lg">
              <Trans>Install in two commands</Trans>
            </LinkButton>
          </div>
          <div
            id="install"
            data-copyable=""
            className="mt-6 inline-flex items-center gap-2 rounded-full border border-line bg-surface py-1 pr-1.5 pl-5 font-mono text-sm shadow-sm"
          >
            <code>npm ci && npm start</code>
            <CopyButton className="rounded-full" />
          </div>
          <p className="mt-3 text-sm text-faint">
            <Trans>MIT licence, no paid edition</Trans>
          </p>
        </div>
        <ProductShots />
      </div>
    </section>
  )
}
