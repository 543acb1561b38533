import type { I18n } from "@lingui/core"
import { msg } from "@lingui/core/macro"
import { useLingui } from "@lingui/react/macro"
import { Icon } from "#app/ui/icon.tsx"

/** Frequently asked questions. */
export function Questions() {
  const { t } = useLingui()
  return (
    <div className="grid max-w-3xl divide-y divide-line border-y border-line">
      {questions.map(({ id, question, answer }) => (
        <details key={id} className="group" name="questions">
          <summary className="flex min-h-14 items-center justify-between gap-4 py-3 font-medium">
            {t(question)}
            <Icon name="plus" className="text-faint transition-transform duration-200 group-open:rotate-45" />
          </summary>
          <p className="pr-8 pb-5 text-muted">{t(answer)}</p>
        </details>
      ))}
    </div>
  )
}

const questions = [
  {
    id: "model",
    question: msg`Do I need a language model?`,
    answer: msg`No. Without a gateway key the chat is off and says so, and everything else works. With one, you can use any gateway that speaks the OpenAI protocol, including a model on your own machine.`,
  },
  {
    id: "database",
    question: msg`Can I use my existing PostgreSQL?`,
    answer: msg`Yes, version 18 or newer, with wal_level=logical and a role with the REPLICATION attribute. Point DATABASE_URL to it. Migrations run at startup, one process at a time.`,
  },
  {
    id: "restart",
    question: msg`What happens to open screens when the server restarts?`,
    answer: msg`They reconnect automatically and send the last log position they saw. They receive what came after it, or a fresh snapshot if that was too long ago.`,
  },
  {
    id: "scripts",
    question: msg`Does the public site need JavaScript?`,
    answer: msg`No. These pages, sign-in and the theme switch work without it. They load one small script for the copy buttons, and this page a second one that follows the boats.`,
  },
  {
    id: "privacy",
    question: msg`What does it store about me?`,
    answer: msg`Your account, your files and your conversations, on the server of the people who run this site. There is no tracking and no third party on these pages. The privacy page lists everything.`,
  },
]

/** The same questions for search engines. */
export function questionsForSearch(i18n: I18n): object {
  return {
    "@type": "FAQPage",
    mainEntity: questions.map(({ question, answer }) => ({
      "@type": "Question",
      name: i18n._(question),
      acceptedAnswer: { "@type": "Answer", text: i18n._(answer) },
    })),
  }
}
