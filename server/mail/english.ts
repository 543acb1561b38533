import type { EmailTexts, NoticeDetails, NoticeSubject } from "./email-texts.ts"

export const english: EmailTexts = {
  welcome: ({ reader }) => ({
    subject: "Welcome to Tideline",
    preview: "Your account is ready: chat, files and everything live.",
    heading: reader ? `Welcome aboard, ${reader}` : "Welcome aboard",
    body: [
      "Your Tideline account is ready. Ask the chat a question, upload files to reach them from every device, and watch each change arrive the moment it is made.",
      "Start on your dashboard.",
    ],
    button: "Open the dashboard",
    reason: "You're receiving this email because you have an account here.",
  }),

  planChanged: ({ reader, previous, next }) => ({
    subject: "Your Tideline plan has changed",
    preview:
      previous && next ? `From ${previous} to ${next}.` : "Your files and conversations stay as they are.",
    heading: reader ? `${reader}, your plan has changed` : "Your plan has changed",
    body: [
      [
        previous ? `You were on the ${previous} plan.` : "You were on another plan.",
        next
          ? `From now on you are on the ${next} plan.`
          : "Your account page says which one you are on now.",
      ].join(" "),
      "Your files and conversations stay as they are. If you didn't expect this, reply to this email.",
    ],
    button: "Compare plans",
    reason: "You're receiving this email because the plan of your account changed.",
  }),

  passwordReset: ({ minutes }) => ({
    subject: "Reset your Tideline password",
    preview: `The link inside is valid for ${minutes} minutes.`,
    heading: "Choose a new password",
    body: [
      `Somebody, probably you, asked to reset the password of this account. The link is valid for ${minutes} minutes and works once.`,
      "If it wasn't you, you don't need to do anything: your password stays the same.",
    ],
    button: "Choose a new password",
    reason: "You're receiving this email because a password reset was requested for this email address.",
  }),

  verifyAddress: () => ({
    subject: "Confirm your email address for Tideline",
    preview: "One click confirms that this email address is yours.",
    heading: "Confirm your email address",
    body: [
      "Someone, probably you, signed up with this address. Open the link in the browser in which you signed up to confirm it. In any other browser you choose a new password first, and anyone who used the account before is signed out.",
      "If you did not sign up, ignore this email.",
    ],
    button: "Confirm email address",
    reason: "You're receiving this email because this email address was used to create an account.",
  }),

  signUpAttempted: ({ resetUrl }) => ({
    subject: "You already have a Tideline account",
    preview: "Somebody tried to create another one with this email address.",
    heading: "You already have an account",
    body: [
      "Somebody, probably you, tried to create an account with this email address. It already has one, and no other was created.",
      {
        text: "Sign in with your existing password. If you've forgotten it, choose a new one here:",
        url: resetUrl,
      },
      "If it wasn't you, you don't need to do anything: they haven't learned whether you have an account.",
    ],
    button: "Sign in",
    reason: "You're receiving this email because this email address was used to create an account.",
  }),

  waitlistConfirmation: ({ days }) => ({
    subject: "Confirm your place on the Tideline waitlist",
    preview: "One click, and you are on the list.",
    heading: "Confirm your place",
    body: [
      `This email address was added to the waitlist. Confirm that it was you, and we'll let you know when there is room. The link is valid for ${days} days.`,
      "If it wasn't you, ignore this email, and nothing else will happen.",
    ],
    button: "Confirm my place",
    reason: "You're receiving this email because somebody entered this email address on the waitlist page.",
  }),

  waitlistInvitation: ({ days }) => ({
    subject: "There is room for you at Tideline",
    preview: "Your invitation to create an account.",
    heading: "There is room for you",
    body: [
      `The people who run this site invite you to create an account. The link is for this email address only, is valid for ${days} days, and works once.`,
      "If you don't want an account here, ignore this email.",
    ],
    button: "Create my account",
    reason: "You're receiving this email because the people who run this site invited this email address.",
  }),

  spaceInvitation: ({ inviter, space, days }) => ({
    subject: "You are invited to a space on Tideline",
    preview: space ? `Conversations and files in “${space}”.` : "Shared conversations and files.",
    heading: space ? `You are invited to the space “${space}”` : "You are invited to a space",
    body: [
      `${inviter ? `“${inviter}”` : "Somebody"} invites you to share conversations and files in ${space ? `the space “${space}”` : "a space"}. Both names were chosen by people who use this site. Everything in it is live for everybody who is in it.`,
      `The link works once and is valid for ${days} days. You can sign in with the account that you have, or create one.`,
      "If you don't know who this is, ignore this email, and nothing happens.",
    ],
    button: "Open the invitation",
    reason: "You're receiving this email because somebody entered this email address to invite you.",
  }),

  mention: ({ space, conversations, mentions, more, settingsUrl }) => ({
    subject: "You were mentioned on Tideline",
    preview:
      conversations > 1
        ? `In ${conversations} conversations${space ? ` in ${space}` : ""}.`
        : space
          ? `In a conversation in ${space}.`
          : "In a conversation of a space.",
    heading:
      mentions.length === 1 && mentions[0]?.author
        ? `${mentions[0].author} mentioned you`
        : "You were mentioned",
    body: [
      conversations > 1
        ? `You were mentioned in ${conversations} conversations in ${space || "your spaces"}, and haven't read them yet.`
        : `You were mentioned in a conversation in ${space || "one of your spaces"}, and haven't read it yet.`,
      ...mentions.map(
        ({ author, space: where, said }) => `${author || "Somebody"}${where ? ` in ${where}` : ""}: ${said}`,
      ),
      ...(more > 0 ? [`And ${more} more.`] : []),
      { text: "You can switch these emails off in your account:", url: settingsUrl },
    ],
    button: conversations > 1 ? "Open your notifications" : "Open the conversation",
    reason: "You're receiving this email because you are a member of a space.",
  }),

  accountDeleted: ({ reader }) => ({
    subject: "Your Tideline account has been deleted",
    preview: "Your files and conversations were deleted with it.",
    heading: reader ? `${reader}, your account has been deleted` : "Your account has been deleted",
    body: [
      "Your account on this site was deleted, together with your files and conversations. Backups may contain them until they are replaced.",
      "This is the last email about it. If you didn't delete the account, reply to this email.",
    ],
    reason: "You're receiving this email because the account with this email address was deleted.",
  }),

  securityNotice: ({ subject, details, resetUrl }) => {
    const { title, happened } = NOTICES[subject](details.name)
    return {
      subject: `${title} (Tideline)`,
      preview: `On ${details.when}.`,
      heading: title,
      body: [
        happened,
        ...describeDetails(details),
        subject === "address-changed"
          ? "Emails about the account now go to the new address. If it wasn't you, reply to this email immediately."
          : {
              text: "If it was you, there is nothing to do. If it wasn't, choose a new password now, which signs out every browser and deletes every API key:",
              url: resetUrl,
            },
      ],
      button: "Check your account",
      reason: "You're receiving this email because it concerns the security of your account.",
    }
  },

  confirmAddressChange: ({ isNew, isConfirmed, next, hours }) => ({
    subject:
      isConfirmed || isNew
        ? "Confirm the new email address for Tideline"
        : "A new email address for your Tideline account",
    preview: isNew
      ? "Confirm that this email address is yours."
      : "Your account is to get a new email address.",
    heading: isNew ? "Confirm your new email address" : "A new email address for your account",
    body: isNew
      ? [
          `Somebody, probably you, wants to use this email address for their account. Open the link in the browser that is signed in to the account. It is valid for ${hours} hours.`,
          "If it wasn't you, ignore this email, and nothing changes.",
        ]
      : isConfirmed
        ? [
            `Somebody who is signed in to your account wants to change its email address to ${next}. It changes once you confirm it here and in the email to the new address. The link is valid for ${hours} hours.`,
            "If it wasn't you, stop the change with the same link, and change your password.",
          ]
        : [
            `Somebody who is signed in to your account wants to change its email address to ${next}. It changes once that address is confirmed.`,
            `If it wasn't you, you can stop the change for ${hours} hours. Then change your password.`,
          ],
    button: isNew ? "Confirm email address" : isConfirmed ? "Confirm or stop" : "Stop the change",
    reason: "You're receiving this email because the email address of an account is to be changed.",
  }),

  addressChangeAttempted: () => ({
    subject: "Your email address already has a Tideline account",
    preview: "Somebody tried to use it for another account.",
    heading: "This email address has an account",
    body: [
      "Somebody, probably you, wants to use this email address for another account. It already has one, so nothing was changed.",
      "If it was you, sign in to that account, and delete it or change its email address first. If it wasn't you, you don't need to do anything: they haven't learned whether you have an account.",
    ],
    button: "Sign in",
    reason: "You're receiving this email because this email address was entered for an account.",
  }),

  orOpen: "Or open this link:",
}

const NOTICES: Record<NoticeSubject, (name: string) => { title: string; happened: string }> = {
  "new-browser": () => ({
    title: "New sign-in to your account",
    happened: "Your account was opened in a browser in which it was not opened before.",
  }),
  "password-changed": () => ({
    title: "Your password was changed",
    happened: "Your account has a new password.",
  }),
  "address-changed": () => ({
    title: "Your email address was changed",
    happened: "Your account has a new email address, and no longer uses this one.",
  }),
  "key-created": (name) => ({
    title: "New API key for your account",
    happened: name
      ? `The API key “${name}” was created. It lets a program use your account.`
      : "An API key was created. It lets a program use your account.",
  }),
  "second-factor-added": () => ({
    title: "Two-factor authentication is on",
    happened: "Signing in to your account now also takes a code from an authenticator app.",
  }),
  "second-factor-removed": () => ({
    title: "Two-factor authentication is off",
    happened: "Signing in to your account no longer takes a code from an authenticator app.",
  }),
  "passkey-added": (name) => ({
    title: "New passkey for your account",
    happened: name ? `The passkey “${name}” was added.` : "A passkey was added.",
  }),
  "passkey-removed": (name) => ({
    title: "A passkey was removed",
    happened: name ? `The passkey “${name}” was removed.` : "A passkey was removed.",
  }),
}

function describeDetails({ when, browser, address }: NoticeDetails): string[] {
  const device = browser && `${browser.browser ?? "a browser"} on ${browser.system ?? "an unknown system"}`
  return [
    `Time: ${when}`,
    ...(device ? [`Browser: ${device}`] : []),
    ...(address ? [`Network address: ${address}`] : []),
  ]
}
