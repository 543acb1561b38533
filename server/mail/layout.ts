import { escapeMarkup } from "#server/http/markup.ts"

/** What a message holds besides its recipient. */
export interface Letter {
  subject: string
  text: string
  html: string
}

interface LetterParts {
  /** Goes into a header, so it never holds a person's words. */
  subject: string
  /** What an inbox shows after the subject. */
  preview: string
  heading: string
  paragraphs: string[]
  action?: { label: string; url: string }
  /** Why the reader gets this letter. */
  reason: string
  /** The site's public origin. */
  origin: string
}

/** Both parts say the same words, so that nobody loses anything by reading the plain one. */
export function composeLetter(parts: LetterParts): Letter {
  return { subject: parts.subject, text: composeText(parts), html: composeHtml(parts) }
}

function composeText({ heading, paragraphs, action, reason, origin }: LetterParts): string {
  const blocks = [
    heading,
    ...paragraphs,
    ...(action ? [`${action.label}:\n${action.url}`] : []),
    `-- \n${reason}\n${origin}`,
  ]
  return `${blocks.join("\n\n")}\n`
}

function composeHtml({ subject, preview, heading, paragraphs, action, reason, origin }: LetterParts): string {
  const button = action
    ? `<p style="margin:28px 0"><a class="button" href="${escapeMarkup(action.url)}" style="display:inline-block;padding:12px 22px;border-radius:8px;background:#0f6674;color:#ffffff;font-weight:600;text-decoration:none">${escapeMarkup(action.label)}</a></p>
<p class="quiet" style="margin:0 0 16px;font-size:13px;line-height:20px;color:#5b6b73">Or open this address: <a class="link" href="${escapeMarkup(action.url)}" style="color:#0f6674;word-break:break-all">${escapeMarkup(action.url)}</a></p>`
    : ""
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<title>${escapeMarkup(subject)}</title>
<style>
:root { color-scheme: light dark; supported-color-schemes: light dark }
@media (prefers-color-scheme: dark) {
  .page { background: #0d1518 !important }
  .sheet { background: #152126 !important; border-color: #26363d !important }
  .sheet h1, .sheet p { color: #e6eef0 !important }
  .sheet .quiet, .foot p { color: #9db0b7 !important }
  .sheet .button { background: #4fb3c1 !important; color: #06272d !important }
  .link { color: #6cc6d3 !important }
}
</style>
</head>
<body class="page" style="margin:0;padding:0;background:#f3f6f7">
<div style="display:none;max-height:0;overflow:hidden;opacity:0">${escapeMarkup(preview)}${"&#847;&zwnj;&nbsp;".repeat(40)}</div>
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" class="page" style="background:#f3f6f7">
<tr><td align="center" style="padding:32px 16px">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="max-width:560px;font-family:-apple-system,BlinkMacSystemFont,'Segoe UI',Roboto,Helvetica,Arial,sans-serif">
<tr><td style="padding:0 4px 16px"><a class="link" href="${escapeMarkup(origin)}" style="color:#0f6674;font-size:17px;font-weight:700;text-decoration:none">Tideline</a></td></tr>
<tr><td class="sheet" style="padding:32px;background:#ffffff;border:1px solid #dde5e8;border-radius:12px">
<h1 style="margin:0 0 16px;font-size:22px;line-height:30px;font-weight:650;color:#12222a">${escapeMarkup(heading)}</h1>
${paragraphs.map((paragraph) => `<p style="margin:0 0 16px;font-size:16px;line-height:25px;color:#26363d">${escapeMarkup(paragraph)}</p>`).join("\n")}
${button}
</td></tr>
<tr><td class="foot" style="padding:20px 4px 0"><p style="margin:0;font-size:13px;line-height:20px;color:#5b6b73">${escapeMarkup(reason)}<br><a class="link" href="${escapeMarkup(origin)}" style="color:#0f6674">${escapeMarkup(origin)}</a></p></td></tr>
</table>
</td></tr>
</table>
</body>
</html>
`
}
