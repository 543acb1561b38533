import type { BlogPost } from "./contract.ts"
import { author } from "./author.ts"

export const aRateLimiterYouCanPredict: BlogPost = {
  slug: "a-rate-limiter-you-can-predict",
  title: "A rate limiter that you can predict",
  excerpt:
    "Fixed windows let twice the limit through at the seam, and a map of counters is a gift to anybody with a script. Notes on an exact sliding window with bounded memory.",
  publishedAt: "2026-11-12",
  author,
  content: `
<p>A rate limit is a promise in two directions. The server promises itself that it will not be asked more than so often. It also promises the caller that a request within the limit will be answered. Many limiters keep neither exactly.</p>

<h2>The seam</h2>
<p>The simplest limiter counts requests per calendar minute. Thirty requests at 12:00:59 and thirty more at 12:01:00 are both within the limit, and the server has answered sixty in one second. The usual repair weighs the previous window into the current one. It smooths the seam by guessing how the previous minute's requests were spread.</p>
<p>Tideline does not guess. It remembers when each accepted request of the last interval arrived. A request is accepted if fewer than the limit are left after the old ones are dropped. The answer to "when may I try again?" is then not an estimate either: it is the moment when the oldest remembered request leaves the window.</p>
<pre tabindex="0"><code>X-RateLimit-Remaining: 0
X-RateLimit-Reset: 1795180812345
Retry-After: 42</code></pre>

<h2>Rejected requests do not count</h2>
<p>If a rejected request extended the wait, a client with an eager retry loop would lock itself out for ever. Only accepted requests are remembered, so a caller who keeps knocking is let in as soon as the window allows, no sooner and no later.</p>

<h2>The other resource is memory</h2>
<p>The key of the health check's limiter comes from a header, and a header can hold anything. A limiter that keeps an entry for each key it has ever seen can be filled by a loop of a few lines. Three things keep it flat:</p>
<ul>
<li>the number of keys is bounded, and the one that was idle the longest leaves first;</li>
<li>long keys are hashed, so that a megabyte of header does not become a megabyte of map;</li>
<li>there is no timer per key: old entries are dropped when they are looked at.</li>
</ul>
<p>It lives in the process's memory, so two instances count separately and a restart forgets. That is written in the documentation, because a limit you cannot predict is a limit you cannot rely on.</p>
`,
}
