import { clientTexts, realtimeTexts, type RefusalValue } from "#live/contract"

/**
 * The English of every refusal that a person can be shown, by its reason. Values are in braces.
 * `npm run words` takes the texts from here into the catalogues.
 */
export const refusalTexts = {
  ...realtimeTexts,
  ...clientTexts,

  "no-such-record": "There is no such record, or it is not yours.",
  "no-such-file": "There is no such file, or it is not yours.",
  "no-such-upload": "There is no such upload, or it is not yours.",
  "no-such-link": "There is no such link, or it is not yours.",
  "no-such-conversation": "There is no such conversation, or it is not yours.",
  "no-such-question": "There is no such question, or it is not yours.",
  "no-such-waiting-message": "There is no such waiting message. Its reply may have begun.",
  "no-such-earlier-version": "There is no such earlier version, or it is not yours.",
  "no-such-picture": "There is no such picture, or it is not yours.",
  "no-such-session": "There is no such session, or it is not yours.",
  "no-such-change-of-address": "There is no such change of address, or it is not yours.",
  "no-such-key": "There is no such key, or it is not yours.",
  "no-such-passkey": "There is no such passkey, or it is not yours.",

  // Files
  "file-name-taken": "You already have a file called {fileName}.",
  "file-not-text": "{fileName} is not a text file.",
  "file-too-large": "{fileName} is too large. A file can be {largest} at most.",
  "not-enough-space":
    "There isn't enough space for {fileName}. Your files can take {quota} together: delete some, then send it again.",
  "too-many-files":
    "{fileName} would be one file too many. You can have {most} files, including those in the trash: delete some permanently, then send it again.",
  "too-many-files-of-owner":
    "{fileName} would be one file too many. What a space stores counts for its owner, who can have {most} files.",
  "file-store-refuses": "The server can't store files at the moment. Nothing was changed: try again later.",
  "not-enough-space-together":
    "There isn't enough space for these {count} files, which take {size}. Your files can take {quota} together: delete some, or select fewer.",
  "file-bytes-missing":
    "The server has lost the contents of {fileName}. Its operator can restore them from a backup.",
  "file-bytes-damaged":
    "The contents of {fileName} are damaged on the server. Its operator can restore them from a backup.",
  "not-enough-space-of-owner":
    "There isn't enough space for {fileName}. What a space stores counts for its owner, whose files can take {quota} together.",
  "not-enough-space-of-owner-together":
    "There isn't enough space for these {count} files, which take {size}. What a space stores counts for its owner, whose files can take {quota} together.",
  "disk-full": "The server has no disk space left for this file.",
  "form-without-file": "The form contains no file.",
  "form-broken": "The form ended early, or is not valid.",
  "form-with-too-many-files": "One form can contain up to {most} files.",
  "too-many-uploads": "{most} uploads are in progress. Finish or cancel some, then send {fileName} again.",
  "too-many-uploads-on-server": "Too many files are being uploaded right now. Try again in a moment.",
  "idempotency-key-used":
    "This Idempotency-Key was sent with another request in the last 24 hours. Choose another key.",
  "idempotency-key-in-progress":
    "A request with this Idempotency-Key is still in progress. Try again in a moment.",
  "upload-ended-early": "{fileName} ended after {stored} of {announced} bytes.",
  "upload-longer-than-announced": "{fileName} has more than the {announced} bytes that were announced.",
  "upload-part-too-long": "There are more than the {announced} bytes that were announced for {fileName}.",
  "upload-body-too-long": "There are more bytes than were announced.",
  "upload-body-broken": "The request body ended early. What arrived before is stored.",
  "upload-offset-wrong":
    "The upload ends at {end}, and these bytes were to begin at {offset}. Send from {end} on.",
  "upload-complete": "The upload is complete. Delete the file instead.",
  "upload-cancelled": "The upload was cancelled.",
  "upload-too-slow": "The upload took too long and was cancelled. Send the file again.",
  "upload-expired": "The upload received no data for too long and was cancelled. Send the file again.",
  "upload-stalled": "No data arrived for a minute. What arrived before is stored.",
  "upload-locked": "Another request is writing to this upload. Try again in a moment.",
  "upload-taken-over": "Another request took over this upload.",
  "upload-without-database":
    "The database was unavailable. Ask how much of the upload is stored, and resume from there.",
  "upload-while-stopping": "The server is shutting down. Try again in a moment to resume the upload.",
  "thumbnail-impossible": "There is no thumbnail of {fileName}.",
  "thumbnail-not-ready": "The thumbnail is not ready yet. Try again in a moment.",
  "too-many-links": "A file can have {most} links. Revoke one you no longer need.",
  "too-many-conversation-links": "A conversation can have {most} links. Revoke one you no longer need.",
  "link-dead": "This link doesn't work. Ask the person who sent it for a new one.",
  "link-needs-password": "This link needs a password. Open it in a browser, or POST the password to it.",

  // Chat
  "reply-running": "A reply is being generated in this conversation. Wait for it, or stop it first.",
  "conversation-of-several":
    "Others have written in this conversation, so it can't become yours alone. Copy it instead.",
  "reply-running-elsewhere":
    "A reply is being generated in another conversation. Wait for it, or stop it first.",
  "too-many-replies-elsewhere":
    "{running} replies are being generated in your other conversations. Wait for one of them, or stop it first.",
  "too-many-replies": "{most} replies are being generated for you. Wait for one of them, or leave it.",
  "too-many-streams": "You are following {most} replies already. Close one of the streams.",
  "conversation-personal": "Only a conversation of a space can be for people only.",
  "message-of-another": "Only its author can edit a message to the people in a space.",
  "message-id-taken":
    "Somebody else's message in this conversation has the same id. Send yours with another one.",
  "message-not-last": "Only the last message can be regenerated.",
  "message-empty": "A user's message has no text.",
  "message-too-long": "A message can have {most} characters at most; one has {length}.",
  "too-many-files-in-message": "A message can have {most} files at most; one has {count}.",
  "too-many-files-in-messages": "{count} files are too many: the messages can have {most} together.",
  "conversation-too-long": "{count} messages are too many: send the latest {most} at most.",
  "attachment-unknown": "There is no file with this id.",
  "attachment-unreadable":
    "{fileName} cannot be attached. The model takes text files, and PNG, JPEG, WebP and GIF images.",
  "image-too-large": "{fileName} is too large: an attached image can have {megabytes} MB.",
  "images-too-large": "The images are too large: together they can have {megabytes} MB.",

  // Spaces
  "no-such-space": "There is no such space, or you are not a member of it.",
  "no-such-member": "This person is not a member of the space.",
  "no-such-invitation": "There is no such invitation, or it is not yours.",
  "space-reader": "You can read in this space, but not change anything. Ask its owner to make you an editor.",
  "space-owner-only": "Only the owner of the space can do this.",
  "space-owner-leaving": "You own this space. Transfer it to another member before you leave, or delete it.",
  "account-owns-spaces":
    "You own spaces with other members: {spaces}. Choose for each who gets it, or delete it.",
  "space-owner-fixed": "The owner's role changes only when the space is transferred.",
  "space-slug-taken": "Another space already has the address {slug}.",
  "space-slug-reserved":
    "The address {slug} is reserved for the space that everyone joins. Ask the administrator, who set SPACE_FOR_EVERYONE.",
  "spaces-off": "This installation offers no spaces. Ask the administrator to set SPACES=on.",
  "too-many-spaces": "You own {most} spaces. Delete one you no longer need.",
  "member-owns-too-many": "This member owns {most} spaces, and cannot own another one.",
  "member-lacks-space":
    "This member's plan does not allow what the space stores. Delete files first, or choose another member.",
  "too-many-members": "A space can have {most} members.",
  "too-many-invitations": "A space can have {most} open invitations. Revoke one you no longer need.",
  "person-is-member": "{email} is already a member.",
  "invitation-dead": "This invitation doesn't work. Ask the person who sent it for a new one.",
  "invitation-outlived":
    "You were given this invitation before your access was taken away. Ask the owner of the space for a new one.",
  "invitation-emails-open":
    "You had five invitations sent to {email} that still work. Make a link, and send it yourself.",
  "too-many-emails": "You can have {most} emails sent in an hour. Try again later.",
  "inviter-unconfirmed":
    "Confirm your email address before you invite people by email. A link that you create works without that.",
  "invitation-address-unconfirmed":
    "Open the link in the email that invited you, or confirm your email address first.",

  // Accounts
  "account-at-provider": "Accounts are managed by your identity provider. Use its account page.",
  "account-differs-at-provider": "The identity provider reports a different email or plan. Reload the page.",
  "account-gone-at-provider": "Your account no longer exists at the identity provider. Sign in again.",
  "picture-at-provider": "Your picture is managed by your identity provider. Change it there, under Account.",
  "picture-unreadable": "This image can't be displayed. Choose a JPEG, PNG, WebP, GIF or AVIF.",
  "too-many-keys": "You have {most} keys. Delete one you don't use, then create the new one.",
  "key-without-scopes": "Choose at least one thing that the key may do.",

  // Operator pages
  "account-gone": "This account no longer exists. Reload the page.",
  "accounts-at-clerk": "Accounts are managed by Clerk. Ban the person in Clerk's dashboard.",
  "passwords-at-clerk": "Passwords are managed by Clerk. Open the person in Clerk's dashboard.",
  "plans-at-clerk": "Plans are managed by Clerk Billing. Change the plan in Clerk's dashboard.",
  "second-factors-at-clerk": "Second factors are managed by Clerk. Remove them in Clerk's dashboard.",
  "sessions-at-clerk": "Sessions are managed by Clerk. End them in Clerk's dashboard.",
  "person-allowed": "{email} is not suspended.",
  "person-invited": "{email} has already used an invitation.",
  "person-on-plan": "{email} is on the {plan} plan already.",
  "person-suspended": "{email} is suspended already.",
  "person-without-second-factor": "{email} has no second factor.",
  "suspending-oneself": "You can't suspend your own account. Ask another operator.",
  "suspending-last-operator": "This is the last operator. Add another one to ADMIN_EMAILS first.",
  "no-longer-operator": "You are no longer an operator. Reload the page.",
  "operator-password-link":
    "An operator's link is made on the server: npm run user -- reset-password {email}",
  "email-not-parked":
    "The email is already on its way, or its link has expired. If it has expired, discard it.",
  "email-being-sent": "The email is being sent right now. Check again in a minute.",
  "email-gone": "This email has been sent or discarded in the meantime. Reload the page.",
  "no-email-parked": "No parked email can be resent.",
  "reply-ended": "That reply has already ended.",

  // Fields of forms
  "form-too-large": "This is larger than the form accepts.",
  "form-outdated": "This form does not belong to this page. Reload it and try again.",
  "form-unreadable": "This request is not a form.",
  "field-missing": "This is missing.",
  "field-empty": "Fill this in.",
  "control-characters": "Leave out control characters.",
  "email-missing": "Enter your email address.",
  "email-too-long": "An email address can have up to 254 characters.",
  "email-malformed": "Enter an email address such as ada@example.org.",
  "password-missing": "Enter your password.",
  "password-too-long": "A password has at most {most} characters.",
  "new-password-missing": "Choose a password.",
  "new-password-too-short": "Choose a password of at least {least} characters.",
  "code-missing": "Enter a code.",
  "code-too-long": "A code is shorter than that.",
  "name-missing": "Enter your name.",
  "name-too-long": "A name can have up to 100 characters.",
  "picture-missing": "Choose a picture first.",
  "picture-too-large": "Choose a picture of at most 10 MB.",
  "key-unnamed": "Name the key.",
  "key-name-empty": "Name the key after the program that will use it.",
  "key-name-too-long": "A key's name can have up to 32 characters.",
  "key-without-end": "Choose when the key expires.",
  "passkey-unnamed": "Name the passkey.",
  "passkey-name-empty": "Name the passkey after the device or app that holds it.",
  "passkey-name-too-long": "A passkey's name can have up to 50 characters.",
  "file-name-missing": "Give the file a name.",
  "file-name-with-slash": "A file name cannot contain / or \\.",
  "file-name-too-long": "A file name can have up to {most} bytes.",
  "files-unselected":
    'Name 1 to {most} files in "fileIds", or say in "all" which files match. Neither both nor other fields.',
  "files-too-many": "More than {most} files match. Search for a part of them.",
  "files-unnamed": 'Name 1 to {most} files in "ids", or say "all".',
  "link-password-missing": "Enter the password.",
  "link-password-wrong": "That password is wrong.",
  "link-password-unfit": "A password has 1 to {most} characters. Leave it out for a link without one.",
  "link-downloads-unfit": "The number of downloads is a whole number from 1 to 1,000,000.",
  "link-end-unfit": "The expiry of a link is a time in milliseconds since 1970.",
  "link-end-past": "The expiry of the link is in the past.",
  "link-end-too-late": "A link can be valid for up to ten years.",
  "too-many-readers": "Too many people are reading. Try again in a while.",
  "link-shows-unfit": "A link shows the conversation live, or a copy.",
  "attachments-unfit": "Attached files are copied along (copy) or taken off the messages (leave).",
  "title-missing": "Give the conversation a title.",
  "title-too-long": "A title can have {most} characters at most.",
  "search-too-long": "A search can have {most} characters at most.",
  "space-name-missing": "Give the space a name.",
  "space-name-too-long": "A space's name can have {most} characters at most.",
  "space-slug-unfit":
    "An address has up to 40 characters: lower-case letters and digits, with hyphens between them.",
  "space-role-unfit": "A member is an editor or a reader.",
  "invitation-end-too-late": "An invitation can be valid for up to a year.",
  "invitation-uses-unfit": "The number of people is a whole number from 1 to 1,000.",
  "not-found": "Not found.",

  // Any page
  "database-outage": "The database can't be reached. Try again in a moment.",
  "database-full": "The server has no disk space left, so nothing was changed. Try again later.",
  "request-failed": "Internal server error",
  "request-foreign":
    "This request came from another site, so it was refused. Open the page here and try again.",
  maintenance: "Tideline is closed for maintenance. Try again in a few minutes.",
  "message-not-saved": "Your message couldn't be saved. Try again.",
  "operator-unproven":
    "Your email address is listed as an operator's, but access to its mailbox alone is not enough. On the server, run npm run user -- reset-password with your email address, open the link it prints, and choose a password.",
  "operator-without-second-factor":
    "Operators need two-factor authentication: this page opens only in a browser that has shown more than a password.",
  "second-factor-missing": "This needs a second factor. Open /second-factor in your browser.",

  // What an operator should do
  "disk-space-gone":
    "Only {free} are free where Tideline stores its data. Make space now: files and records are refused without it.",
  "disk-space-short": "{free} are free where Tideline stores its data. Make space before they are used up.",
  "file-store-read-only":
    "Files can't be stored ({problem}), so every upload is refused with 503. Check whether the file system is mounted read-only, and who may write to the folder or bucket.",
  "file-bytes-lost":
    "The contents of files are missing or damaged in the store: {count}, among them {key}. Run npm run files -- check, which names the files, and npm run files -- repair --from <backups>, which restores them.",
  "log-kept":
    "PostgreSQL keeps {kept} of its log for the replication slot {slot}, which nobody reads. Drop the slot if it belongs to nothing.",
  "log-unlimited":
    "PostgreSQL keeps its log without limit for a Tideline that is stopped, until its disk is full. Set max_slot_wal_keep_size to 4GB.",
  "clock-ahead": "This machine's clock is {seconds} s ahead of PostgreSQL's. Have both set theirs by NTP.",
  "clock-behind": "This machine's clock is {seconds} s behind PostgreSQL's. Have both set theirs by NTP.",
  "certificate-expires": "The certificate of {host} expires in {days} days. Renew it.",
  "certificate-refused":
    "The certificate of {host} is refused ({code}). Renew it, or install it with its whole chain.",
  "emails-waiting":
    "{count} emails are waiting, one of them for {minutes} minutes. Check the mail server and SMTP_URL.",
  "emails-parked":
    "Emails that were given up: {count}. The reason of each is under Emails in /admin, where they can be resent.",
  "backup-none":
    "No backup is scheduled. Set BACKUP_SCHEDULE; or BACKUP_SCHEDULE=elsewhere, if another process or tool takes them.",
  "backup-overdue":
    "The backup that is due has not been taken. It is tried again every 15 minutes; the log says why it fails.",
  "backup-not-copied":
    "The newest backup is not in the bucket. The copy is tried again every 15 minutes; the log says why it fails.",
  "history-behind":
    "The history is not being kept, so the latest moments cannot be restored. The log says why.",
  "newer-version": "Version {version} is available; this is {current}. Read its notes, back up, and upgrade.",
  "newest-version-unknown":
    "The newest version could not be read from RELEASES_URL. It is tried again every day; the log says why it fails.",

  // The model server
  "model-without-tools":
    "The model doesn't support tools, so it can't look up files and conversations. Set CHAT_TOOLS=off, or choose another model.",
  "model-context-smaller":
    "The model's context holds {tokens} tokens, and CHAT_CONTEXT_TOKENS is {setting}. Set it to what the model holds, or give the model more.",
  "model-redirects":
    "The model server redirects (status {status}), and redirects are not followed. Set AI_GATEWAY_BASE_URL to the URL it redirects to.",
  "model-key-refused": "The model server rejects the key (status {status}). Check AI_GATEWAY_API_KEY.",
  "model-unpaid": "The model server requires payment (status {status}). Check the account's balance.",
  "model-unknown":
    "The model server doesn't know this URL or model (status {status}). Check AI_GATEWAY_BASE_URL and CHAT_MODEL.",
  "model-request-refused":
    "The model server rejects the request (status {status}). The log has its reason; check CHAT_MODEL and AI_GATEWAY_API.",
} as const

/** What only a program can cause stays in English. */
export const programRefusalTexts = {
  "bytes-over-limit": "There are more than {limit} bytes.",
  "cursor-foreign": "The cursor is not one that this list gave.",
  "precondition-failed":
    "It is not, or no longer, what the condition in the request names (If-Match or If-Unmodified-Since). Read it again.",
  "idempotency-key-unfit":
    "Idempotency-Key is up to {most} characters of ASCII, without spaces, quotation marks and backslashes.",
  "file-unnamed": "Say what the file is called: POST /api/files?name=photo.jpg",
  "file-modified-unfit":
    "Say when the file was modified in milliseconds since the epoch: lastModified=1795207953555",
  "form-not-multipart": "This is no form with files: multipart/form-data was expected, with a boundary.",
  "tus-extension-unsupported":
    "Upload-Defer-Length and Upload-Concat are not supported. Say the length of the whole file.",
  "tus-part-type-wrong": "The body of a PATCH is {type}.",
  "tus-header-wrong": "{header} {problem}",
  "key-scope-missing": "This API key does not have the scope {scope}. Create a key that has it.",
  "key-limited": "This API key is limited to scopes, and none of them opens this.",
  "session-needed": "This takes a session. An API key does not change the account.",
  "user-foreign": "A user record can be written by its own user only.",
  "webhook-foreign": "The webhook is not Clerk's, or older than five minutes: {problem}",
  "messages-empty": "messages is empty: send at least one message of the user.",
  "messages-not-ended-by-user": "The last message must be the user's.",
  "message-id-unfit": "A message's id must have 1 to 100 characters, and no control characters.",
  "message-not-ui-message":
    "Each message must be a UIMessage: { id: string, role: 'user' | 'assistant', parts: [...] }.",
  "message-role-unknown": "A message's role must be user or assistant.",
  "message-part-not-file":
    'A user\'s message has text and files, as parts of type "file" or "data-file"; one of type {type} is refused.',
  "file-not-encoded":
    "{fileName} can't be read: the URL of a file in a message has to be a data URL in base64. Other files can be uploaded first and attached by their id.",
  "input-invalid": "{problem}",
  "field-unknown": 'Unknown field "{field}". Known: {known}.',
  "field-misspelt": 'Unknown field "{field}". Did you mean "{meant}"?',
  "parameter-unknown": 'Unknown query parameter "{field}". Known: {known}.',
  "parameter-misspelt": 'Unknown query parameter "{field}". Did you mean "{meant}"?',
  "parameter-repeated": 'The query parameter "{parameter}" is there more than once.',
  "parameter-unfit": 'The query parameter "{parameter}" has to be {allowed}.',
  "limit-unfit": 'The query parameter "limit" has to be a whole number from 1 to {most}.',
  "export-format-unknown": "The format is markdown or json.",
  "image-url-unfit": "An image needs a URL that starts with http or https and holds no password.",
} as const

export const allRefusalTexts = { ...refusalTexts, ...programRefusalTexts }

export type Reason = keyof typeof allRefusalTexts

/** What `NotFound` is told: `file`. */
export type Missing = MissingIn<Reason>

type MissingIn<R> = R extends `no-such-${infer What}` ? What : never

export type RefusalValues = Readonly<Record<string, RefusalValue>>

/** The values that a reason's text names. */
export type ValuesOf<R> = R extends Reason
  ? Record<NamesIn<(typeof allRefusalTexts)[R]>, RefusalValue>
  : never

/** The values of a reason as an argument; most reasons have none. */
export type ValuesArgument<R extends Reason> = keyof ValuesOf<R> extends never ? [] : [values: ValuesOf<R>]

type NamesIn<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}`
  ? Name extends `${string} ${string}`
    ? NamesIn<Rest>
    : Name | NamesIn<Rest>
  : never

/** A refusal as pages receive it. `message` is in English. */
export interface RefusalData {
  message: string
  reason?: string | undefined
  values?: RefusalValues | undefined
}

export function isReason(text: string): text is Reason {
  return Object.hasOwn(allRefusalTexts, text)
}
