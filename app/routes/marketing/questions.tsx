import type { I18n } from "@lingui/core"
import { msg } from "@lingui/core/macro"
import { useLingui } from "@lingui/react/macro"
import { Icon } from "#app/ui/icon.tsx"

/** What people ask before they try it. */
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
    answer: msg`No. Without a gateway key the chat is off and says so, and everything else works. With one, any gateway that speaks the OpenAI protocol will do, a model on your own machine among them.`,
  },
  {
    id: "database",
    question: msg`Can I use the PostgreSQL that I have?`,
    answer: msg`Yes, version 18 or newer, with wal_level=logical and a role that may replicate. Set DATABASE_URL to it. Migrations run at the start, one process at a time.`,
  },
  {
    id: "restart",
    question: msg`What happens to open screens when the server restarts?`,
    answer: msg`They connect again by themselves and say which position of the log they saw last. They are sent what came after it, or a fresh snapshot when that is too long ago.`,
  },
  {
    id: "scripts",
    question: msg`Does the public site need JavaScript?`,
    answer: msg`No. These pages, signing in and the choice of colours work without it. What they load is one small script for the copy buttons, and on this page a second one, which follows the boats.`,
  },
  {
    id: "privacy",
    question: msg`What does it store about me?`,
    answer: msg`Your account, your files and your conversations, on the server of whoever runs this site. There is no tracking and no third party on these pages. The privacy page lists it all.`,
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
