import type { BlogPost } from "./contract.ts"
import { author } from "./author.ts"

export const aCommitIsTheAnnouncement: BlogPost = {
  slug: "a-commit-is-the-announcement",
  title: "A commit is the announcement",
  excerpt:
    "Most realtime code has to remember to tell somebody. In Tideline the database's own log does the telling, so there is nothing to forget.",
  publishedAt: "2026-11-20",
  author,
  content: `
<p>Add realtime to an application and the first version looks like this: save the row, then publish an event. It works in the demo. Then somebody writes a script that renames a thousand files, and no screen moves. Somebody adds a second instance behind the load balancer, and half of the screens move. Somebody publishes before the transaction commits, and screens show a row that is rolled back a moment later.</p>
<p>Each of these is the same bug. The application makes two statements about one fact, one to the database and one to everybody else, and nothing keeps them together.</p>

<h2>Say it once</h2>
<p>PostgreSQL already writes every change down, in order, before it tells you that your transaction has committed. That is the write-ahead log, and it is what replicas follow. Tideline reads it the same way a replica does. So the code that renames a file, here a little shortened, only renames a file:</p>
<pre data-quote="server/files/files.ts" tabindex="0"><code>export async function renameFile(
  scope: Scope&lt;"db" | "viewer"&gt;,
  id: string,
  { fileName }: RenameFile,
): Promise&lt;FileSummary&gt; {
  const name = cleanFileName(fileName)
  …
        .update(files)
        .set({ fileName: name })
        .where(and(editableFiles({ ...scope, db: tx }), here))
        .returning(summary),
  …
  return summaryOf(renamed)
}</code></pre>
<p>There is no <code>publish</code> in it, and no hook around it. When the transaction commits, the change appears in the log. Every process of the application reads the log, sees which subscriptions the row belongs to, and pushes it to their sockets.</p>

<h2>What follows from that</h2>
<ul>
<li><strong>Whatever writes is seen.</strong> A click, another instance, a migration, an operator in <code>psql</code>. The log does not care who you are.</li>
<li><strong>What is rolled back is never seen.</strong> Logical decoding hands over committed transactions only, whole, and in the order in which they were committed.</li>
<li><strong>Processes need not know each other.</strong> Each reads the log for itself. There is no message broker to run, to secure or to lose.</li>
<li><strong>A gap can be named.</strong> Every commit has a position in the log. A browser that was away says which position it saw last and is sent what came after, or a fresh snapshot when that is too long ago.</li>
</ul>

<h2>What it costs</h2>
<p>It is not free. PostgreSQL must run with <code>wal_level=logical</code>, and a replication slot that nobody reads keeps log files on the disk, so the application has to look after its slots. Rows that leave a range, because they were deleted or moved, have to carry enough of their old self for somebody to notice; in PostgreSQL that is the table's <em>replica identity</em>, and every watched table here has one that names its range.</p>
<p>And it is deliberately less than a query language. A live query reads one index range of one table through the eyes of one viewer. That covers the lists and the conversations that an application keeps on its screens. It does not cover a join of five tables, and it does not pretend to.</p>
<p>In exchange there is one rule to remember: <em>if it is committed, it is announced.</em></p>
`,
}
