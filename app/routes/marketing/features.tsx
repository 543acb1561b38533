import type { MessageDescriptor } from "@lingui/core"
import { Trans, useLingui } from "@lingui/react/macro"
import { msg } from "@lingui/core/macro"
import type { ReactNode } from "react"
import { href, useRouteLoaderData } from "react-router"
import { SIGN_UP } from "#app/features/identity/addresses.ts"
import { Code } from "#app/features/site/code.tsx"
import { PageHead } from "#app/features/site/page-head.tsx"
import { pageMeta } from "#app/features/site/page-meta.ts"
import { LinkButton } from "#app/ui/button.tsx"
import type { loader as rootLoader } from "#app/root.tsx"
import { Icon } from "#app/ui/icon.tsx"
import type { Route } from "./+types/features.ts"
import { Comparison } from "./comparison.tsx"
import { KeysPicture } from "./feature-pictures.tsx"
import { HowItWorks } from "./how-it-works.tsx"
import chatDark from "./pictures/chat-dark.avif"
import chatLight from "./pictures/chat-light.avif"
import filesDark from "./pictures/files-dark.avif"
import filesLight from "./pictures/files-light.avif"
import spaceDark from "./pictures/space-dark.avif"
import spaceLight from "./pictures/space-light.avif"
import { Shot } from "./shot.tsx"

export const meta: Route.MetaFunction = ({ matches }) =>
  pageMeta(matches, {
    title: msg`Features`,
    description: msg`What Tideline includes: AI chat with tools, spaces for teams, files with quotas, passkeys and two-factor sign-in, live records, an HTTP API, and everything an operator needs.`,
    path: href("/features"),
  })

export default function Features() {
  const { t } = useLingui()
  const isSignedIn = useRouteLoaderData<typeof rootLoader>("root")?.isSignedIn ?? false
  return (
    <div className="mx-auto max-w-6xl px-5 pb-24 sm:px-8">
      <PageHead title={t`What's included`}>
        <Trans>
          A complete application rather than a kit of parts. Each of these works from the first start, and
          each is a folder of source code you can read in one sitting.
        </Trans>
      </PageHead>
      {features.map((feature) => (
        <Feature key={feature.id} {...feature} />
      ))}
      <section id="how-it-works" className="border-t border-line py-14 lg:py-20">
        <h2 className="text-3xl font-semibold">
          <Trans>A commit is the announcement</Trans>
        </h2>
        <p className="mt-4 mb-10 max-w-2xl text-lg text-muted">
          <Trans>
            Realtime code usually has to remember to notify somebody. Here the code just writes a row.
            PostgreSQL's own log carries the change to every process, and each process pushes it to every
            screen that shows it.
          </Trans>
        </p>
        <HowItWorks />
      </section>
      <section id="comparison" className="border-t border-line py-14 lg:py-20">
        <h2 className="text-3xl font-semibold">
          <Trans>Compared with Next.js, Convex and Clerk</Trans>
        </h2>
        <p className="mt-4 mb-10 max-w-2xl text-lg text-muted">
          <Trans>
            Three good services, and the right choice for many teams. The difference is who runs them, where
            the data is stored, and how live updates work.
          </Trans>
        </p>
        <Comparison />
      </section>
      <div className="rounded-xl border border-line bg-sunken px-6 py-12 text-center">
        <h2 className="text-2xl font-semibold">
          <Trans>Ready to try it?</Trans>
        </h2>
        <p className="mx-auto mt-2 max-w-md text-muted">
          <Trans>Creating an account takes a minute. So does starting your own server.</Trans>
        </p>
        <div className="mt-6 flex flex-wrap justify-center gap-3">
          <LinkButton to={isSignedIn ? href("/dashboard") : SIGN_UP}>
            {isSignedIn ? <Trans>Open Tideline</Trans> : <Trans>Sign up</Trans>}
          </LinkButton>
          <LinkButton to={href("/docs/:page", { page: "self-hosting" })} variant="secondary">
            <Trans>Host it yourself</Trans>
          </LinkButton>
        </div>
      </div>
    </div>
  )
}

interface FeatureWords {
  id: string
  title: MessageDescriptor
  text: MessageDescriptor
  points: MessageDescriptor[]
  picture: ReactNode
}

function Feature({ id, title, text, points, picture }: FeatureWords) {
  const { t } = useLingui()
  return (
    <section
      id={id}
      className="grid items-center gap-8 border-t border-line py-14 lg:grid-cols-2 lg:gap-16 lg:py-20"
    >
      <div>
        <h2 className="text-3xl font-semibold">{t(title)}</h2>
        <p className="mt-4 text-lg text-muted">{t(text)}</p>
        <ul className="mt-6 grid gap-3">
          {points.map((point) => (
            <li key={point.id} className="flex gap-3">
              <Icon name="check" className="mt-1.25 text-accent-ink" />
              <span>{t(point)}</span>
            </li>
          ))}
        </ul>
      </div>
      <div className="min-w-0">{picture}</div>
    </section>
  )
}

function Source({ title, source }: { title: MessageDescriptor; source: string }) {
  const { t } = useLingui()
  return (
    <div className="overflow-hidden rounded-xl border border-line bg-surface shadow-md">
      <p className="border-b border-line bg-sunken px-5 py-2.5 font-mono text-xs text-muted">{t(title)}</p>
      <pre tabIndex={0} className="overflow-x-auto p-5 font-mono text-[0.8125rem] leading-6">
        <Code source={source} />
      </pre>
    </div>
  )
}

const features: FeatureWords[] = [
  {
    id: "chat",
    title: msg`A chat that uses tools`,
    text: msg`Answers stream from the model you connect, through any gateway that speaks the OpenAI protocol. The model can check the time and look up the current user's files, and nobody else's.`,
    points: [
      msg`Model, prompt, steps and limits are settings, not code.`,
      msg`A reply grows in the database: every tab shows it, any tab can stop it, and it survives a reload.`,
      msg`Search, export, editable messages, attachments, and a trash that keeps conversations for a day.`,
      msg`Without a key the chat is off and says which setting is missing.`,
    ],
    picture: (
      <Shot
        light={chatLight}
        dark={chatDark}
        size={[1240, 800]}
        alt={msg`A conversation: a reply with a table and a highlighted query, and the field for the next message.`}
        className="rounded-xl"
      />
    ),
  },
  {
    id: "spaces",
    title: msg`Spaces for your team`,
    text: msg`A space has its own conversations and files, which all of its members see change as it happens. Talk to each other and to the model in one conversation.`,
    points: [
      msg`Mention a colleague with @: they are notified, and the model leaves the message to them.`,
      msg`Invite by email or with a link, as somebody who can edit or only read.`,
      msg`See who is online, who is writing, and what you have not read yet.`,
      msg`Move or copy files and conversations between a space and your own.`,
    ],
    picture: (
      <Shot
        light={spaceLight}
        dark={spaceDark}
        size={[1240, 800]}
        alt={msg`A conversation of the space “Harbour team”: Grant's question, a reply with a table of tides, and Ada's message that mentions Grant.`}
        className="rounded-xl"
      />
    ),
  },
  {
    id: "files",
    title: msg`Files, stored safely`,
    text: msg`Bytes are written to disk and synced before the row is committed. Files that are served can't run scripts in your name.`,
    points: [
      msg`The type is detected from the content, not the name.`,
      msg`A storage quota and a maximum file size for each plan, all configurable.`,
      msg`Uploads of any size resume where they were interrupted, even after a reload.`,
      msg`Share links with an expiry date, a password or a download limit.`,
      msg`A trash, downloads of several files as one zip, and range requests.`,
    ],
    picture: (
      <Shot
        light={filesLight}
        dark={filesDark}
        size={[1240, 800]}
        alt={msg`The files page: search, type and sort order above a list with thumbnails, sizes and times.`}
        className="rounded-xl"
      />
    ),
  },
  {
    id: "sign-in",
    title: msg`Sign-in, built in or Clerk's`,
    text: msg`The embedded provider stores accounts in your PostgreSQL, in a separate schema. Set Clerk's keys to use Clerk instead. The rest of the application doesn't notice the difference.`,
    points: [
      msg`Passkeys, email and password, and single sign-on; two-factor authentication for everybody or for those you choose.`,
      msg`API keys for scripts, sent as bearer tokens.`,
      msg`One guard for every path: everything that isn't public requires sign-in.`,
      msg`Sign-up can be open or closed, with a waitlist, and operators have their own pages.`,
    ],
    picture: <KeysPicture />,
  },
  {
    id: "live",
    title: msg`Records that are live`,
    text: msg`Server code writes rows in a transaction and publishes nothing. The write-ahead log carries the change to every process, and each process pushes it to the sockets that subscribe to those rows.`,
    points: [
      msg`Every committed write shows up: from a form, a script, a migration, or psql.`,
      msg`Whole transactions, in the order in which they were committed.`,
      msg`After a lost connection, clients receive what they missed, or a fresh snapshot.`,
      msg`Several processes need no broker between them.`,
    ],
    picture: (
      <Source
        title={msg`another window, no code`}
        source={`# in psql, on the server
update chat_threads
set title = 'Harbour works'
where title = 'Untitled';

# every open list of threads that holds the row
# now shows the new title`}
      />
    ),
  },
  {
    id: "api",
    title: msg`A precise HTTP API`,
    text: msg`Every request is validated by the same schema that generates the OpenAPI document. Errors are JSON and say what to do. Limits are exact, and response headers show what is left.`,
    points: [
      msg`An OpenAPI 3.1 document at /api/openapi.json.`,
      msg`Sliding windows that count accepted requests only.`,
      msg`Streaming chat in the AI SDK's format.`,
    ],
    picture: (
      <Source
        title={msg`terminal`}
        source={`# who am I allowed to be, and how often
curl -i https://tideline.example.org/api/health

HTTP/1.1 200 OK
X-RateLimit-Remaining: 29
X-RateLimit-Reset: 1795180812345

{"status":"ok","timestamp":"2026-11-20T09:00:12.345Z",
 "uptime":86400.02}`}
      />
    ),
  },
  {
    id: "operation",
    title: msg`Built for operators`,
    text: msg`Software that others run has to explain itself. Tideline checks its settings before it opens anything, migrates under a lock, and finishes running work when it shuts down.`,
    points: [
      msg`All invalid settings in one message, by name, with how to fix them.`,
      msg`A content security policy with nonces on every page.`,
      msg`The public URL comes from configuration, never from a request header.`,
      msg`Logs as JSON lines, without secrets.`,
    ],
    picture: (
      <Source
        title={msg`a refused start`}
        source={`Check the settings (environment or .env):
  - CLERK_PUBLISHABLE_KEY is missing, and
    CLERK_SECRET_KEY is set. Set both or neither.
  - SMTP_URL is missing. The local mail inbox is
    for localhost only, and APP_URL is
    https://tideline.example.org.`}
      />
    ),
  },
]
