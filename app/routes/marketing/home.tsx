export const handle = { static: true }

export default function Home() {
  return (
    <main className="mx-auto max-w-3xl px-6 py-32">
      <h1 className="text-display font-semibold">Every record on the screen is live.</h1>
    </main>
  )
}
