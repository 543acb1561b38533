import type { RefusalValue } from "./realtime/contract.ts"

/**
 * The English of every refusal that a person can be shown, by its reason. Values are in braces.
 * `npm run words` takes the texts from here into the catalogues.
 */
export const refusalTexts = {
  "no-such-file": "There is no such file, or it is not yours.",
  "no-such-upload": "There is no such upload, or it is not yours.",
  "no-such-link": "There is no such link, or it is not yours.",
  "no-such-conversation": "There is no such conversation, or it is not yours.",
  "no-such-question": "There is no such question, or it is not yours.",
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
  "disk-full": "The server has no disk space left for this file.",
  "form-without-file": "The form contains no file.",
  "form-broken": "The form ended early, or is not valid.",
  "form-with-too-many-files": "One form can contain up to {most} files.",
  "too-many-uploads": "{most} uploads are in progress. Finish or cancel some, then send {fileName} again.",
  "too-many-uploads-on-server": "Too many files are being uploaded right now. Try again in a moment.",
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
  "link-dead": "This link doesn't work. Ask the person who sent it for a new one.",
  "link-needs-password": "This link needs a password. Open it in a browser, or POST the password to it.",
} as const

/** What only a program can cause stays in English. */
export const programRefusalTexts = {
  "bytes-over-limit": "There are more than {limit} bytes.",
  "cursor-foreign": "The cursor is not one that this list gave.",
  "file-unnamed": "Say what the file is called: POST /api/files?name=photo.jpg",
  "form-not-multipart": "This is no form with files: multipart/form-data was expected, with a boundary.",
  "tus-extension-unsupported":
    "Upload-Defer-Length and Upload-Concat are not supported. Say the length of the whole file.",
  "tus-part-type-wrong": "The body of a PATCH is {type}.",
  "tus-header-wrong": "{header} {problem}",
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

type NamesIn<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}`
  ? Name | NamesIn<Rest>
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
