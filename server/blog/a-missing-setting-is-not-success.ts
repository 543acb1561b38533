import type { BlogPost } from "./contract.ts"
import { author } from "./author.ts"

export const aMissingSettingIsNotSuccess: BlogPost = {
  slug: "a-missing-setting-is-not-success",
  title: "A missing setting must not look like success",
  excerpt:
    "Configuration fails at three in the morning because it was read at three in the morning. Read it once, at the start, and say everything that is wrong with it in one message.",
  publishedAt: "2026-11-16",
  author,
  content: `
<p>Here is a bug that every operator has met. A service starts, the health check is green, the deploy is called done. A week later the first person resets their password, and only then does the code look up <code>SMTP_URL</code>, find nothing, and log a warning that nobody reads.</p>
<p>The setting was missing all week. The program simply had not asked yet.</p>

<h2>Ask once, at the start</h2>
<p>Tideline reads its settings in one place, before anything is opened. One schema names every variable, its form and its default. If something is wrong, the process does not start, and the message lists <em>everything</em> that is wrong, not merely the first thing:</p>
<pre tabindex="0"><code>Check the settings (environment or .env):
  - PORT must be a whole number: the port to listen on.
  - CLERK_PUBLISHABLE_KEY is missing, and CLERK_SECRET_KEY is set. Set both or neither.
  - SMTP_URL is missing. The local mail inbox is for localhost only, and APP_URL is https://tideline.example.org.</code></pre>
<p>Three rules went into that text. Name the variable. Say what to do, not only what is wrong. Never repeat a value, because values are where secrets live and messages end up in logs.</p>

<h2>Combinations are settings too</h2>
<p>Most of the wrong configurations we could think of are made of right parts. A Clerk secret key is fine. A Clerk secret key without its publishable key is half an installation, and half an installation that quietly falls back to another sign-in would be a security problem. So the combinations have their own checks: both keys or neither, the issuer with the keys, real mail with a public address.</p>

<h2>Off is an answer</h2>
<p>Some things may be missing. A server without a model key is a perfectly good server without a chat. Then the absence is said out loud: the chat endpoint answers with status 500 and <code>Missing AI_GATEWAY_API_KEY</code>, and the page explains what the operator would have to set. The feature is off, and looks off.</p>
<p>The empty string counts as missing everywhere. <code>SMTP_URL=</code> in a file is how people write "not yet", and a program that treats it as an address is being clever at the wrong moment.</p>
`,
}
