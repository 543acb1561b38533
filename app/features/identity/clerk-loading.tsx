import { Spinner } from "#app/ui/spinner.tsx"

/** What stands there until Clerk's own form does, which brings a heading of its own. */
export function ClerkLoading({ title, label }: { title: string; label: string }) {
  return (
    <>
      <h1 className="mb-6 text-2xl font-semibold">{title}</h1>
      <Spinner label={label} />
    </>
  )
}
