/**
 * The answer while the database cannot be reached, in the place of `failed`: JSON for the API, a page for people.
 * React Router's own data requests keep the body that their client understands.
 */
export async function unavailable(request: Request, failed: Response): Promise<Response> {
  const { pathname } = new URL(request.url)
  if (failed.headers.has("x-remix-response")) {
    return new Response(failed.body, { status: 503, headers: withRetry(failed.headers) })
  }
  await failed.body?.cancel()
  if (pathname.startsWith("/api/")) {
    return Response.json(
      { error: "The database cannot be reached. Try again in a moment." },
      { status: 503, headers: withRetry({ "content-type": "application/json; charset=utf-8" }) },
    )
  }
  return new Response(PAGE, {
    status: 503,
    headers: withRetry({ "content-type": "text/html; charset=utf-8" }),
  })
}

function withRetry(init: HeadersInit) {
  const headers = new Headers(init)
  headers.set("retry-after", "5")
  headers.set("cache-control", "no-store")
  return headers
}

/** Needs nothing else: no style sheet, no script, no database. */
const PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Back in a moment · Tideline</title>
<body style="font: 1rem/1.6 system-ui, sans-serif; max-width: 34rem; margin: 20vh auto; padding: 0 1.5rem">
<h1 style="font-size: 1.5rem">Back in a moment</h1>
<p>Tideline cannot reach its database. It keeps trying, and nothing that was saved is lost.</p>
<p><a href="">Try again</a></p>
</body>
</html>
`
