import type { MessageDescriptor } from "@lingui/core"
import { msg } from "@lingui/core/macro"

/**
 * The server's sentences for users, exactly as it writes them, so that they can be translated.
 * Messages for programs are not listed. Placeholders stand for the server's values.
 */
export const serverSentences: MessageDescriptor[] = [
  // General
  msg`The database can't be reached. Try again in a moment.`,
  msg`The database can't be reached.`,
  msg`Something went wrong. It has been logged.`,
  msg`Too many requests`,
  msg`Unauthorized`,
  msg`Your email address is listed as an operator's, but access to its mailbox alone is not enough. On the server, run npm run user -- reset-password with your email address, open the link it prints, and choose a password.`,
  msg`Operators need two-factor authentication: this page opens only in a browser that has shown more than a password.`,
  msg`Internal server error`,
  msg`It doesn't exist, or it isn't yours.`,
  msg`Tideline is closed for maintenance. Try again in a few minutes.`,
  msg`This page does not exist.`,
  msg`This request came from another site, so it was refused. Open the page here and try again.`,
  msg`This part of the application is being updated. Reload the page.`,
  msg`Reload the page for a newer version.`,
  msg`Too many queries at once.`,
  msg`Too many changes at once.`,
  msg`Too many messages.`,
  msg`Sign in first.`,
  msg`Sign in again.`,
  msg`The connection was closed.`,
  msg`The server is restarting.`,
  msg`The server is catching up with its database.`,
  msg`You have too many open connections.`,
  msg`You're signed out. Sign in again to continue.`,
  msg`There is a newer version of this page. Reload it and try again.`,
  msg`The connection was lost before the server answered.`,

  // Chat
  msg`Your message couldn't be saved. Try again.`,
  msg`The conversation couldn't be loaded. Try again.`,
  msg`The reply was stopped.`,
  msg`The tool failed.`,
  msg`The model is busy. Try again in a moment. (Reference ${{ reference: "" }})`,
  msg`The model couldn't reply. Try again. (Reference ${{ reference: "" }})`,
  msg`The model server refused the request. Only the administrator of this site can fix this. (Reference ${{ reference: "" }})`,
  msg`The model server redirects (status ${{ status: "" }}), and redirects are not followed. Set AI_GATEWAY_BASE_URL to the URL it redirects to.`,
  msg`The model server rejects the key (status ${{ status: "" }}). Check AI_GATEWAY_API_KEY.`,
  msg`The model server requires payment (status ${{ status: "" }}). Check the account's balance.`,
  msg`The model server doesn't know this URL or model (status ${{ status: "" }}). Check AI_GATEWAY_BASE_URL and CHAT_MODEL.`,
  msg`The model server rejects the request (status ${{ status: "" }}). The log has its reason; check CHAT_MODEL and AI_GATEWAY_API.`,
  msg`${{ zone: "" }} is not a known time zone.`,
  msg`Missing AI_GATEWAY_API_KEY`,

  // Operator pages
  msg`The replication stream has not started.`,
  msg`PostgreSQL has not responded for ${{ duration: "" }} ms.`,
  msg`Queries of ${{ tables: "" }} are refused: changed, or not in the publication. The log says which.`,
  msg`The role ${{ role: "" }} may not read PostgreSQL's log. Run: ${{ statement: "" }}`,
  msg`PostgreSQL's ${{ setting: "" }} are all in use. Each process needs one, and the installation one more slot. Free one, or run: ${{ statement: "" }} and restart PostgreSQL. Records are live as soon as one is free.`,
]
