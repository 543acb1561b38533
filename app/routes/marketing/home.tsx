import { Trans, useLingui } from "@lingui/react/macro"
import { msg } from "@lingui/core/macro"
import type { ReactNode } from "react"
import { href } from "react-router"
import { SIGN_UP } from "#app/features/identity/addresses.ts"
import { CopyButton } from "#app/features/site/copy-button.tsx"
import { originOf, pageMeta } from "#app/features/site/page-meta.ts"
import { i18nOf } from "#app/language/i18n.ts"
import { Section } from "#app/features/site/section.tsx"
import { LinkButton } from "#app/ui/button.tsx"
import { Icon } from "#app/ui/icon.tsx"
import { servicesContext } from "#server/context.ts"
import type { Route } from "./+types/home.ts"
import { Comparison } from "./comparison.tsx"
import { EmbeddedServices } from "./embedded-services.tsx"
import { HowItWorks } from "./how-it-works.tsx"
import { LiveDemo } from "./live-demo.tsx"
import { ProductShots } from "./product-shots.tsx"
import { Questions, questionsForSearch } from "./questions.tsx"
import { WhatIsInIt } from "./what-is-in-it.tsx"

const DESCRIPTION = msg`Tideline is a web application you host yourself: sign-in, a dashboard with AI chat and files, and an HTTP API, where every record on the screen is live. One process, one PostgreSQL, two commands.`

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
    title: msg`Tideline: every record on the screen is live`,
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
      <Hero>{boats && <LiveDemo boats={boats} refused={refused} />}</Hero>
      <Section
        id="how-it-works"
        title={t`A commit is the announcement`}
        lead={t`Realtime code usually has to remember to notify somebody. Here the code just writes a row. PostgreSQL's own log carries the change to every process, and each process pushes it to every screen that shows it.`}
      >
        <HowItWorks />
      </Section>
      <div className="overflow-hidden border-y border-line bg-sunken">
        <Section
          title={t`A product, not a starter kit`}
          lead={t`This is what you have after the second command. A script took these screenshots from the running application, and every list in them is live.`}
        >
          <ProductShots />
        </Section>
      </div>
      <div>
        <Section
          title={t`The parts you would otherwise assemble`}
          lead={t`Most products spend their first week on these. They are here, they work together, and they are yours to change.`}
        >
          <WhatIsInIt />
        </Section>
      </div>
      <div className="border-y border-line bg-sunken">
        <Section
          id="self-host"
          title={t`Two commands, nothing else to install`}
          lead={t`You need Node 20 or later, with npm. The first start writes a settings file with generated secrets, sets up a real PostgreSQL in a folder, and prints the URL to open.`}
        >
          <EmbeddedServices />
        </Section>
      </div>
      <div>
        <Section
          id="comparison"
          title={t`Compared with Next.js, Convex and Clerk`}
          lead={t`Three good services, and the right choice for many teams. The difference is who runs them, where the data is stored, and how live updates work.`}
        >
          <Comparison />
        </Section>
      </div>
      <div className="border-t border-line bg-sunken">
        <Section title={t`Frequently asked questions`}>
          <Questions />
        </Section>
      </div>
      <Closing />
    </>
  )
}

function Hero({ children }: { children: ReactNode }) {
  return (
    <section className="relative overflow-hidden">
      <div
        aria-hidden="true"
        className="absolute inset-x-0 -top-48 -z-10 h-[56rem] bg-[radial-gradient(50%_60%_at_50%_30%,var(--color-accent-soft),transparent)]"
      />
      <div className="mx-auto max-w-6xl px-5 pt-14 sm:px-8 sm:pt-24">
        <div className="mx-auto max-w-3xl text-center">
          <h1 className="text-display font-semibold">
            <Trans>Every record on the screen is live.</Trans>
          </h1>
          <p className="mx-auto mt-6 max-w-2xl text-lg text-muted sm:text-xl sm:leading-8 sm:tracking-normal">
            <Trans>
              Tideline is a web application on your own server: sign-in, AI chat, files and an HTTP API.
              Whatever writes to its PostgreSQL, whether a click, a script or you in psql, shows on every open
              screen.
            </Trans>
          </p>
          <div className="mt-8 flex flex-wrap justify-center gap-3">
            <LinkButton to={SIGN_UP} size="lg">
              <Trans>Create an account</Trans>
              <Icon name="arrow-right" />
            </LinkButton>
            <LinkButton to="#self-host" variant="secondary" size="lg">
              <Trans>Host it yourself</Trans>
            </LinkButton>
          </div>
          <div
            data-copyable=""
            className="mt-6 inline-flex items-center gap-2 rounded-full border border-line bg-surface py-1 pr-1.5 pl-5 font-mono text-sm shadow-sm"
          >
            <code>npm ci && npm start</code>
            <CopyButton className="rounded-full" />
          </div>
        </div>
        <div className="mt-12 pb-16 sm:mt-16 sm:pb-24">{children}</div>
      </div>
    </section>
  )
}

function Closing() {
  return (
    <section className="border-t border-line bg-accent-soft">
      <div className="mx-auto flex max-w-6xl flex-col items-start gap-8 px-5 py-16 sm:px-8 sm:py-20 md:flex-row md:items-center md:justify-between">
        <div>
          <h2 className="text-3xl font-semibold">
            <Trans>See it with your own records</Trans>
          </h2>
          <p className="mt-3 max-w-xl text-lg text-muted">
            <Trans>
              Create an account here, open the dashboard in two windows, and rename something in one of them.
            </Trans>
          </p>
        </div>
        <div className="flex flex-wrap gap-3">
          <LinkButton to={SIGN_UP} size="lg">
            <Trans>Create an account</Trans>
          </LinkButton>
          <LinkButton to={href("/docs")} variant="secondary" size="lg">
            <Trans>Read the documentation</Trans>
          </LinkButton>
        </div>
      </div>
    </section>
  )
}
