import { Icon } from "#app/ui/icon.tsx"

/** What people ask before they try it. */
export function Questions() {
  return (
    <div className="grid max-w-3xl divide-y divide-line border-y border-line">
      {questions.map(({ question, answer }) => (
        <details key={question} className="group" name="questions">
          <summary className="flex min-h-14 items-center justify-between gap-4 py-3 font-medium">
            {question}
            <Icon name="plus" className="text-faint transition-transform duration-200 group-open:rotate-45" />
          </summary>
          <p className="pr-8 pb-5 text-muted">{answer}</p>
        </details>
      ))}
    </div>
  )
}

const questions = [
  {
    question: "Do I need a language model?",
    answer:
      "No. Without a gateway key the chat is off and says so, and everything else works. With one, any gateway that speaks the OpenAI protocol will do, a model on your own machine among them.",
  },
  {
    question: "Can I use the PostgreSQL that I have?",
    answer:
      "Yes, version 18 with wal_level=logical and a role that may replicate. Set DATABASE_URL to it. Migrations run at the start, one process at a time.",
  },
  {
    question: "What happens to open screens when the server restarts?",
    answer:
      "They connect again by themselves and say which position of the log they saw last. They are sent what came after it, or a fresh snapshot when that is too long ago.",
  },
  {
    question: "Does the public site need JavaScript?",
    answer:
      "No. These pages, signing in and the choice of colours work without it. What they load is one small script for the copy buttons, and on this page a second one, which follows the boats.",
  },
  {
    question: "What does it store about me?",
    answer:
      "Your account, your files and your conversations, on the server of whoever runs this site. There is no tracking and no third party on these pages. The privacy page lists it all.",
  },
]

/** The same questions for search engines. */
export const questionsForSearch = {
  "@type": "FAQPage",
  mainEntity: questions.map(({ question, answer }) => ({
    "@type": "Question",
    name: question,
    acceptedAnswer: { "@type": "Answer", text: answer },
  })),
}
