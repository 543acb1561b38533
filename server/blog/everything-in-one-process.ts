import type { BlogPost } from "./contract.ts"
import { author } from "./author.ts"

export const everythingInOneProcess: BlogPost = {
  slug: "everything-in-one-process",
  title: "Two commands, and the embedded defaults are real",
  excerpt:
    "npm ci and npm start give you a database, sign-in, mail and a chat to try. None of it is a mock: the code behind a default is the code that runs in production.",
  publishedAt: "2026-11-18",
  author,
  content: `
<p>The first hour with a self-hosted application usually belongs to other software. Install a database. Register with an identity provider. Find an SMTP relay that accepts you. Get an API key for a model. Only then does the thing you wanted to look at start, if every variable was copied correctly.</p>
<p>Tideline starts with two commands and nothing else but Node:</p>
<pre tabindex="0"><code>npm ci
npm start</code></pre>

<h2>What stands behind them</h2>
<p>The application has five outside services, and each has an embedded default that is chosen by a setting you can read in <code>.env</code> and change later.</p>
<ul>
<li><strong>Database.</strong> PostgreSQL 18, the real one, from an npm package, with its data in your data folder. Set <code>DATABASE_URL</code> and yours is used.</li>
<li><strong>Sign-in.</strong> An identity provider in the same process, with its tables in their own PostgreSQL schema. Set the Clerk keys and Clerk is asked instead.</li>
<li><strong>Mail.</strong> A local SMTP server with an inbox in the browser. The application speaks SMTP to it exactly as it will to your relay when you set <code>SMTP_URL</code>.</li>
<li><strong>Language model.</strong> A development gateway on the loopback address that speaks the same streaming protocol as a real gateway, and says plainly that no model is connected. Set <code>AI_GATEWAY_BASE_URL</code> and <code>AI_GATEWAY_API_KEY</code> to connect one.</li>
<li><strong>File storage.</strong> A folder on the disk.</li>
</ul>

<h2>Why not mocks</h2>
<p>A mock agrees with the code that was written against it. That is the trouble with it: the first disagreement happens in production. An in-memory table does not have isolation levels. A fake mailer does not reject a header. A canned answer does not arrive in forty pieces, with a pause after the seventh.</p>
<p>So the defaults are the real thing in a small place. The tests run against them as well, which is why a test that says an email was sent has spoken SMTP, and a test that says an answer streams has read it from a socket.</p>

<h2>The line we do not cross</h2>
<p>Convenience must not leak into production. The local inbox and the development gateway are refused at start when <code>APP_URL</code> is anything but a localhost address. A mailbox that swallows your password resets is worse than one that is missing.</p>
`,
}
