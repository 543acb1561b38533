import { CommandBlock } from "#app/features/site/command-block.tsx"
import { originOf, pageMeta } from "#app/features/site/page-meta.ts"
import { Section } from "#app/features/site/section.tsx"
import { LinkButton } from "#app/ui/button.tsx"
import { Icon } from "#app/ui/icon.tsx"
import type { Route } from "./+types/home.ts"
import { Comparison } from "./comparison.tsx"
import { EmbeddedServices } from "./embedded-services.tsx"
import { HowItWorks } from "./how-it-works.tsx"
import { LivePicture } from "./live-picture.tsx"
import { Questions, questionsForSearch } from "./questions.tsx"
import { WhatIsInIt } from "./what-is-in-it.tsx"

const DESCRIPTION =
  "Tideline is a web application you host yourself: sign-in, a dashboard with AI chat and files, and an HTTP API, where every record on the screen is live. One process, one PostgreSQL, two commands."

export const meta: Route.MetaFunction = ({ matches }) =>
  pageMeta(matches, {
    title: "Tideline: every record on the screen is live",
    description: DESCRIPTION,
    path: "/",
    structuredData: [
      { "@type": "WebSite", name: "Tideline", url: `${originOf(matches)}/` },
      {
        "@type": "SoftwareApplication",
        name: "Tideline",
        description: DESCRIPTION,
        applicationCategory: "BusinessApplication",
        operatingSystem: "Linux, macOS",
        license: "https://opensource.org/license/mit",
        offers: { "@type": "Offer", price: "0", priceCurrency: "USD" },
      },
      questionsForSearch,
    ],
  })

export default function Home() {
  return (
    <>
      <Hero />
      <Section
        id="how-it-works"
        title="A commit is the announcement"
        lead="Realtime code usually has to remember to tell somebody. Here the code writes a row and says nothing. PostgreSQL's own log carries the change to every process, and each process pushes it to the screens that are looking."
      >
        <HowItWorks />
      </Section>
      <div className="border-y border-line bg-sunken">
        <Section
          title="The parts you would otherwise assemble"
          lead="The first week of most products goes into these. They are here, they work together, and they are yours to change."
        >
          <WhatIsInIt />
        </Section>
      </div>
      <Section
        id="self-host"
        title="Two commands, nothing else to install"
        lead="You need Node 22.22 or later. The first start writes a settings file with its own secrets, sets up a real PostgreSQL in a folder, and prints the address to open."
      >
        <EmbeddedServices />
      </Section>
      <div className="border-y border-line bg-sunken">
        <Section
          id="comparison"
          title="Compared with Next.js, Convex and Clerk"
          lead="Three good services, and for many teams the right choice. The difference is who runs it, where the records live, and what makes a screen live."
        >
          <Comparison />
        </Section>
      </div>
      <Section title="Questions people ask first">
        <Questions />
      </Section>
      <Closing />
    </>
  )
}

function Hero() {
  return (
    <section className="relative overflow-hidden">
      <div
        aria-hidden="true"
        className="absolute inset-x-0 -top-40 -z-10 h-[44rem] bg-[radial-gradient(60%_60%_at_70%_20%,var(--color-accent-soft),transparent)]"
      />
      <div className="mx-auto max-w-6xl px-5 pt-16 sm:px-8 sm:pt-24">
        <h1 className="max-w-4xl text-display font-semibold">Every record on the screen is live.</h1>
        <div className="mt-6 grid gap-10 lg:grid-cols-[1fr_22rem] lg:items-end">
          <div>
            <p className="max-w-2xl text-lg text-muted sm:text-xl sm:leading-8 sm:tracking-normal">
              Tideline is a web application on your own server: sign-in, a dashboard with AI chat and files,
              and an HTTP API. Whatever writes to its PostgreSQL, be it a click, a script or you in psql,
              every open screen shows it.
            </p>
            <div className="mt-8 flex flex-wrap gap-3">
              <LinkButton to="/sign-up" size="lg">
                Create an account
                <Icon name="arrow-right" />
              </LinkButton>
              <LinkButton to="#self-host" variant="secondary" size="lg">
                Host it yourself
              </LinkButton>
            </div>
          </div>
          <CommandBlock commands={["npm ci", "npm start"]} className="hidden lg:block" />
        </div>
        <div className="mt-14 pb-16 sm:mt-20 sm:pb-20">
          <LivePicture />
        </div>
      </div>
    </section>
  )
}

function Closing() {
  return (
    <section className="border-t border-line bg-accent-soft">
      <div className="mx-auto flex max-w-6xl flex-col items-start gap-8 px-5 py-16 sm:px-8 sm:py-20 md:flex-row md:items-center md:justify-between">
        <div>
          <h2 className="text-3xl font-semibold">See it move</h2>
          <p className="mt-3 max-w-xl text-lg text-muted">
            Create an account here, open the dashboard in two windows, and rename something in one of them.
          </p>
        </div>
        <div className="flex flex-wrap gap-3">
          <LinkButton to="/sign-up" size="lg">
            Create an account
          </LinkButton>
          <LinkButton to="/docs" variant="secondary" size="lg">
            Read the documentation
          </LinkButton>
        </div>
      </div>
    </section>
  )
}
