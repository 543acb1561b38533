import { msg } from "@lingui/core/macro"
import { href, Link } from "react-router"
import { LegalPage } from "#app/features/site/legal-page.tsx"
import { pageMeta } from "#app/features/site/page-meta.ts"
import { servicesContext } from "#server/context.ts"
import type { Route } from "./+types/privacy.ts"

export function loader({ context }: Route.LoaderArgs) {
  const { origin, identity, chat, files, blobs } = context.get(servicesContext).config
  return {
    host: new URL(origin).host,
    isClerk: identity.kind === "clerk",
    trashDays: files.trashDays,
    uploadHours: files.uploadHours,
    isBucket: blobs.kind === "s3",
    gatewayHost: chat.gateway.kind === "remote" ? new URL(chat.gateway.baseUrl).host : null,
  }
}

export const meta: Route.MetaFunction = ({ matches }) =>
  pageMeta(matches, {
    title: msg`Privacy`,
    description: msg`What this server stores about you, where it is kept, who else receives it, and how to have it deleted.`,
    path: href("/privacy"),
  })

export default function Privacy({ loaderData }: Route.ComponentProps) {
  const { host, isClerk, gatewayHost, trashDays, uploadHours, isBucket } = loaderData
  return (
    <LegalPage title="Privacy" changed="22 November 2026">
      <p>
        This page describes what the Tideline software at {host} stores. The software is run by the operator
        of this server, not by the project that writes it, and the project receives nothing from it. The
        operator answers for your data, and may add terms of their own.
      </p>
      <h2>What is stored</h2>
      <ul>
        <li>
          <strong>Your account.</strong>{" "}
          {isClerk
            ? "Accounts on this server are kept by Clerk: your e-mail address, name, picture and the ways in which you sign in. This server keeps a copy of your address, name, picture address and plan."
            : "Your email address, your name and picture, a hash of your password, your plan, and your API keys as hashes. For each session: when it began, when it ends, and the network address and browser it was opened from. A security log of sign-ins and of changes to your account, with time, network address and browser, which you can read on the account page; an entry is kept for a year unless the administrator of this server chose another time."}
        </li>
        <li>
          <strong>Where you are in the first steps,</strong> so that you can go on where you stopped, and the
          language you read, for emails to you.
        </li>
        <li>
          <strong>Your files.</strong> Their bytes, names, types, sizes and times, a checksum, and small
          pictures made of pictures. What you remove waits in the trash for {days(trashDays)}, and then its
          bytes are deleted. An upload that was interrupted waits for {hours(uploadHours)}.
        </li>
        <li>
          <strong>The links you share.</strong> To which file, until when, how often it was downloaded, the
          last four characters of the link, and hashes of the rest of it and of its password. Not who opened
          it.
        </li>
        <li>
          <strong>Your conversations.</strong> The titles of your threads and every message in them, yours and
          the assistant's, with the model, what it looked up and how much it read and wrote. You can restore a
          deleted conversation for a day.
        </li>
        <li>
          <strong>Who is connected.</strong> As long as you have the dashboard open: that a browser or a
          program of yours is, and what kind it is.
        </li>
        <li>
          <strong>What was changed over the live connection,</strong> as a number and a checksum, for a day: a
          change that is sent twice is made once.
        </li>
        <li>
          <strong>The waitlist.</strong> The address you typed there, when and in which language, and whether
          it was confirmed.
        </li>
        <li>
          <strong>What operators did.</strong> When they change somebody's plan, sign them out or write to
          them: who did it, and your address, until your account is deleted.
        </li>
        <li>
          <strong>Emails.</strong> To whom an email went, about what and when, for a month. What it said is
          erased when it is sent.
        </li>
      </ul>
      <p>
        All of it is in this server's database{" "}
        {isBucket ? "and, the bytes of files, in the operator's object storage." : "and on its disk."} Moving
        the boats on the start page stores what the boats do, and nothing about you. How often the API is
        asked is counted per network address or user in the server's memory, and forgotten within minutes or
        at a restart; attempts to sign in are counted per network address and account in the database. The
        server's log holds technical events without passwords, cookies or keys.
      </p>
      <h2>Who else receives something</h2>
      <ul>
        <li>
          <strong>The language model.</strong>{" "}
          {gatewayHost
            ? `When you use the chat, the gateway at ${gatewayHost} gets the conversation with the files you attach, and, where the assistant looks them up, the names and text of your files and passages of your other conversations.`
            : "No language model is connected to this server, so your conversations are sent to nobody."}
        </li>
        <li>
          <strong>Mail.</strong> Emails to you, such as a reset of your password, go through the operator's
          mail server.
        </li>
        {isClerk ? (
          <li>
            <strong>Clerk.</strong> Sign-in runs through Clerk's servers and its browser code. Clerk tells
            this server when an account or a plan has changed; of such a notice only the change is kept.
          </li>
        ) : null}
      </ul>
      <p>
        There is no analytics, no advertising and no tracking in this software. Fonts, scripts and pictures of
        these pages come from this server.
      </p>
      <h2>How long</h2>
      <p>
        Files and conversations are kept until you delete them, and then as long as their trash says.{" "}
        {isClerk ? "Sessions end as Clerk decides." : "Sessions end a week after your last visit."} Your
        account is kept until you or the operator delete it; what belongs to it is deleted with it. Backups
        that the operator makes may hold deleted data until they are replaced.
      </p>
      <h2>Your rights</h2>
      <p>
        You can do most of it yourself: the account page shows and corrects what is known of you, hands you
        all your data as a zip, ends your sessions and deletes your account. For the rest ask the operator.
        Depending on where you live, the law gives you these rights and the right to complain to an authority.
        Cookies have <Link to={href("/cookies")}>their own page</Link>.
      </p>
    </LegalPage>
  )
}

function days(count: number): string {
  return count === 1 ? "a day" : `${count} days`
}

function hours(count: number): string {
  return count % 24 === 0 ? days(count / 24) : `${count} hours`
}
