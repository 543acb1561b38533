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

  // Forms
  msg`This is larger than the form accepts.`,
  msg`This request is not a form.`,
  msg`This is missing.`,
  msg`Fill this in.`,
  msg`Leave out control characters.`,
  msg`Enter your email address.`,
  msg`An email address can have up to 254 characters.`,
  msg`Enter an email address such as ada@example.org.`,
  msg`Enter your password.`,
  msg`A password has at most ${{ most: "" }} characters.`,
  msg`Choose a password.`,
  msg`Choose a password of at least ${{ least: "" }} characters.`,
  msg`Enter your name.`,
  msg`A name can have up to 100 characters.`,

  // Account
  msg`Choose a picture of at most 10 MB.`,
  msg`Choose a picture first.`,
  msg`Name the key.`,
  msg`Name the key after the program that will use it.`,
  msg`A key's name can have up to 32 characters.`,
  msg`Choose when the key expires.`,
  msg`Name the passkey.`,
  msg`Name the passkey after the device or app that holds it.`,
  msg`A passkey's name can have up to 50 characters.`,

  // Files
  msg`Give the file a name.`,
  msg`A file name cannot contain / or \\.`,
  msg`A file name can have up to ${{ most: "" }} bytes.`,
  msg`Name 1 to ${{ most: "" }} files in "ids", or say "all".`,

  // Share links
  msg`Enter the password.`,
  msg`That password is wrong.`,
  msg`A password has 1 to ${{ most: "" }} characters. Leave it out for a link without one.`,
  msg`The number of downloads is a whole number from 1 to 1,000,000.`,
  msg`The expiry of a link is a time in milliseconds since 1970.`,
  msg`The expiry of the link is in the past.`,
  msg`A link can be valid for up to ten years.`,

  // Chat
  msg`A search can have ${{ most: "" }} characters at most.`,
  msg`Give the conversation a title.`,
  msg`A title can have ${{ most: "" }} characters at most.`,
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
  msg`Not found.`,
  msg`Enter a code.`,
  msg`A code is shorter than that.`,
  msg`The replication stream has not started.`,
  msg`PostgreSQL has not responded for ${{ duration: "" }} ms.`,
  msg`Queries of ${{ tables: "" }} are refused: changed, or not in the publication. The log says which.`,
  msg`The role ${{ role: "" }} may not read PostgreSQL's log. Run: ${{ statement: "" }}`,
  msg`PostgreSQL's ${{ setting: "" }} are all in use. Each process needs one, and the installation one more slot. Free one, or run: ${{ statement: "" }} and restart PostgreSQL. Records are live as soon as one is free.`,
]
