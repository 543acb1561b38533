import type { MessageDescriptor } from "@lingui/core"
import { Trans, useLingui } from "@lingui/react/macro"
import { msg } from "@lingui/core/macro"
import type { ReactNode } from "react"
import { Code } from "#app/features/site/code.tsx"
import { PageHead } from "#app/features/site/page-head.tsx"
import { pageMeta } from "#app/features/site/page-meta.ts"
import { LinkButton } from "#app/ui/button.tsx"
import { Icon } from "#app/ui/icon.tsx"
import type { Route } from "./+types/features.ts"
import { KeysPicture } from "./feature-pictures.tsx"
import chatDark from "./pictures/chat-dark.avif"
import chatLight from "./pictures/chat-light.avif"
import filesDark from "./pictures/files-dark.avif"
import filesLight from "./pictures/files-light.avif"
import { Shot } from "./shot.tsx"

export const meta: Route.MetaFunction = ({ matches }) =>
  pageMeta(matches, {
    title: msg`Features`,
    description: msg`What is in Tideline: records that are live through the write-ahead log, sign-in, AI chat with tools, files with quotas, an HTTP API with exact limits, and the things an operator needs.`,
    path: "/features",
  })

export default function Features() {
  const { t } = useLingui()
  return (
    <div className="mx-auto max-w-6xl px-5 pb-24 sm:px-8">
      <PageHead title={t`What is in it`}>
        <Trans>
          A complete application rather than a kit of parts. Each of these works from the first start, and
          each is a folder in the source that you can read in one sitting.
        </Trans>
      </PageHead>
      {features.map((feature) => (
        <Feature key={feature.id} {...feature} />
      ))}
      <div className="mt-20 rounded-xl border border-line bg-sunken px-6 py-12 text-center">
        <h2 className="text-2xl font-semibold">
          <Trans>Enough read?</Trans>
        </h2>
        <p className="mx-auto mt-2 max-w-md text-muted">
          <Trans>An account takes a minute. So does a server of your own.</Trans>
        </p>
        <div className="mt-6 flex flex-wrap justify-center gap-3">
          <LinkButton to="/sign-up">
            <Trans>Create an account</Trans>
          </LinkButton>
          <LinkButton to="/docs/self-hosting" variant="secondary">
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
    id: "live",
    title: msg`Records that are live`,
    text: msg`Server code writes rows in a transaction and tells nobody. The write-ahead log carries the change to every process, and each process pushes it to the sockets that watch that range of rows.`,
    points: [
      msg`Any committed write is seen: a form, a script, a migration, psql.`,
      msg`Whole transactions, in the order in which they were committed.`,
      msg`After a lost connection, what was missed is sent, or a fresh snapshot.`,
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
    id: "sign-in",
    title: msg`Sign-in, built in or Clerk's`,
    text: msg`The embedded provider keeps accounts in your PostgreSQL, in a schema of its own. Give Clerk's keys and Clerk is asked instead. The rest of the application cannot tell the difference.`,
    points: [
      msg`E-mail and password, reset by mail, and signing in without JavaScript.`,
      msg`API keys for scripts, sent as a bearer credential.`,
      msg`One guard for every path: what is not public is protected.`,
      msg`Sign-up can be open or closed, with a waitlist, and operators have a page of their own.`,
    ],
    picture: <KeysPicture />,
  },
  {
    id: "chat",
    title: msg`A chat that uses tools`,
    text: msg`Answers stream from the model you connect, through any gateway that speaks the OpenAI protocol. The model can ask for the time and look up the files of the person who asks, and nobody else's.`,
    points: [
      msg`Model, prompt, steps and limits are settings, not code.`,
      msg`An answer grows in the database: every tab shows it, any tab stops it, and a reload goes on where it was.`,
      msg`Search, export, questions that are edited, files that are attached, and a trash for a day.`,
      msg`Without a key the chat is off, and says which setting is missing.`,
    ],
    picture: (
      <Shot
        light={chatLight}
        dark={chatDark}
        size={[1240, 800]}
        alt={msg`A conversation: an answer with a table and a query in colours, and the field for the next question.`}
        className="rounded-xl"
      />
    ),
  },
  {
    id: "files",
    title: msg`Files, kept with care`,
    text: msg`Bytes go to the disk first and are synced; the row is committed when they are safe. What is served back cannot run scripts in your name.`,
    points: [
      msg`The type is read from the bytes, not believed from the name.`,
      msg`A quota and a largest size for each plan, all of them settings.`,
      msg`Uploads of any size go on where they were interrupted, after a lost network or a reload as well.`,
      msg`Links to share a file, with an end, a password or a number of downloads.`,
      msg`A trash, several files as one zip, and downloads by range.`,
    ],
    picture: (
      <Shot
        light={filesLight}
        dark={filesDark}
        size={[1240, 800]}
        alt={msg`The files: search, kinds and order above a list with small pictures, sizes and times.`}
        className="rounded-xl"
      />
    ),
  },
  {
    id: "api",
    title: msg`An HTTP API that keeps its word`,
    text: msg`Every request is parsed once, by the same schema that writes the OpenAPI document. Errors are JSON and say what to do. Limits are exact, and the headers tell you where you stand.`,
    points: [
      msg`An OpenAPI 3.1 document at /api/openapi.json.`,
      msg`Sliding windows that count accepted requests only.`,
      msg`The chat as a stream, in the AI SDK's own format.`,
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
    title: msg`Made to be operated`,
    text: msg`Software that others run has to explain itself. Tideline checks its settings before it opens anything, migrates under a lock, and lets running work finish when it is told to stop.`,
    points: [
      msg`All wrong settings in one message, by name, with what to do.`,
      msg`A content security policy with nonces on every page.`,
      msg`The public address is configuration, never a request header.`,
      msg`Logs as JSON lines, without secrets.`,
    ],
    picture: (
      <Source
        title={msg`a start that was refused`}
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
