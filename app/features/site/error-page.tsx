import { isRouteErrorResponse } from "react-router"
import { LinkButton } from "#app/ui/button.tsx"
import { Logo } from "#app/ui/logo.tsx"

/** The whole page for an error that nothing nearer caught. */
export function ErrorPage({ error }: { error: unknown }) {
  const { status, title, message } = wordsFor(error)
  return (
    <div className="flex min-h-dvh flex-col px-6">
      <title>{`${title} · Tideline`}</title>
      <meta name="robots" content="noindex" />
      <header className="py-6">
        <a href="/" className="rounded-md">
          <Logo name="Tideline" />
        </a>
      </header>
      <main className="flex flex-1 flex-col items-center justify-center pb-24">
        <ErrorWords {...{ status, title, message }} />
      </main>
    </div>
  )
}

/** The words alone, for a page that keeps its frame. */
export function ErrorNotice({ error }: { error: unknown }) {
  const words = wordsFor(error)
  return (
    <>
      <title>{`${words.title} · Tideline`}</title>
      <ErrorWords {...words} />
    </>
  )
}

function ErrorWords({ status, title, message }: ReturnType<typeof wordsFor>) {
  return (
    <div className="mx-auto w-full max-w-lg py-20 text-center">
      <p className="font-mono text-sm text-accent-ink">{status}</p>
      <h1 className="mt-3 text-3xl font-semibold">{title}</h1>
      <p className="mt-3 text-muted">{message}</p>
      <div className="mt-8 flex flex-wrap justify-center gap-3">
        <LinkButton to="/" reloadDocument>
          Go to the start page
        </LinkButton>
        <LinkButton to="/dashboard" variant="secondary" reloadDocument>
          Open the dashboard
        </LinkButton>
      </div>
      {status === 404 ? (
        <p className="mt-8 text-sm text-faint">
          Looking for something to read? There is the{" "}
          <a className="text-accent-ink underline underline-offset-3" href="/blog">
            blog
          </a>{" "}
          and the{" "}
          <a className="text-accent-ink underline underline-offset-3" href="/docs">
            documentation
          </a>
          .
        </p>
      ) : null}
    </div>
  )
}

function wordsFor(error: unknown) {
  const status = statusOf(error)
  if (status === 404) {
    return {
      status,
      title: "There is nothing here",
      message: "The address may be mistyped, or the page has moved or was deleted.",
    }
  }
  if (status === 403) {
    return {
      status,
      title: "This is not yours to open",
      message: "Sign in with another account, or ask the owner to share it.",
    }
  }
  if (status < 500) {
    return { status, title: "That did not work", message: messageOf(error) }
  }
  return {
    status,
    title: "Something broke on our side",
    message:
      "It was written to the log. Try again in a moment; if it stays, tell whoever runs this server when it happened.",
  }
}

function statusOf(error: unknown): number {
  if (isRouteErrorResponse(error)) return error.status
  if (error instanceof Error && "status" in error && typeof error.status === "number") return error.status
  return 500
}

function messageOf(error: unknown): string {
  if (isRouteErrorResponse(error) && typeof error.data === "string" && error.data) return error.data
  return "The server could not make sense of the request. Go back and try again."
}
