import type { MessageDescriptor } from "@lingui/core"
import { msg } from "@lingui/core/macro"
import { Trans, useLingui } from "@lingui/react/macro"
import { href } from "react-router"
import { CommandBlock } from "#app/features/site/command-block.tsx"
import { Icon, type IconName } from "#app/ui/icon.tsx"

/** The two commands, and the embedded services that run until a setting replaces them. */
export function EmbeddedServices() {
  const { t } = useLingui()
  return (
    <div className="grid gap-8 lg:grid-cols-[24rem_1fr] lg:gap-12">
      <div>
        <CommandBlock commands={["npm ci", "npm start"]} />
        <p className="mt-4 text-muted">
          <Trans>
            Then open the URL it prints and sign up. The same code runs on your server: there you configure
            the URL, your database and your mail server, as described in the{" "}
            <a
              href={href("/docs/:page", { page: "self-hosting" })}
              className="text-accent-ink underline decoration-accent-line underline-offset-4 hover:decoration-current"
            >
              self-hosting guide
            </a>
            .
          </Trans>
        </p>
      </div>
      <div>
        <h3 className="font-semibold">
          <Trans>Built in, each replaceable with one setting</Trans>
        </h3>
        <ul className="mt-4 divide-y divide-line border-y border-line">
          {services.map(({ icon, name, embedded, setting }) => (
            <li
              key={setting}
              className="grid grid-cols-[1.75rem_1fr] gap-x-3 gap-y-1 py-4 sm:grid-cols-[1.75rem_8rem_1fr_auto]"
            >
              <Icon name={icon} className="mt-1 text-accent-ink" />
              <span className="font-medium">{t(name)}</span>
              <span className="col-start-2 text-muted sm:col-start-auto">{t(embedded)}</span>
              <code className="col-start-2 font-mono text-[0.8125rem] leading-6 text-faint sm:col-start-auto">
                {setting}
              </code>
            </li>
          ))}
        </ul>
        <p className="mt-4 text-sm text-faint">
          <Trans>
            They are the real thing on a small scale: real PostgreSQL, real SMTP, real streaming. The mail
            inbox and the development gateway refuse to start on a public URL.
          </Trans>
        </p>
      </div>
    </div>
  )
}

const services: { icon: IconName; name: MessageDescriptor; embedded: MessageDescriptor; setting: string }[] =
  [
    {
      icon: "database",
      name: msg`Database`,
      embedded: msg`PostgreSQL 18 in your data folder`,
      setting: "DATABASE_URL",
    },
    {
      icon: "key",
      name: msg`Sign-in`,
      embedded: msg`An identity provider in the same process`,
      setting: "CLERK_SECRET_KEY",
    },
    { icon: "mail", name: msg`Mail`, embedded: msg`A local SMTP server with an inbox`, setting: "SMTP_URL" },
    {
      icon: "sparkle",
      name: msg`Model`,
      embedded: msg`A labelled development gateway`,
      setting: "AI_GATEWAY_API_KEY",
    },
    { icon: "folder", name: msg`Files`, embedded: msg`A folder on the disk`, setting: "BLOBS_URL" },
  ]
