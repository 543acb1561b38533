import type { LetterWords } from "./letter-words.ts"

export const english: LetterWords = {
  welcome: ({ reader }) => ({
    subject: "Welcome to Tideline",
    preview: "Your account is ready: chat, files and everything live.",
    heading: reader ? `Welcome aboard, ${reader}` : "Welcome aboard",
    body: [
      "Your Tideline account is ready. Ask the chat a question, put your files where every device of yours sees them, and watch each change arrive the moment it is made.",
      "The dashboard is the place to begin.",
    ],
    button: "Open the dashboard",
    reason: "You get this letter because you have an account here.",
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
      "Your files and conversations stay as they are. If you did not expect this, answer this letter.",
    ],
    button: "See what each plan holds",
    reason: "You get this letter because the plan of your account changed.",
  }),

  passwordReset: ({ minutes }) => ({
    subject: "Reset your Tideline password",
    preview: `The link inside is good for ${minutes} minutes.`,
    heading: "Choose a new password",
    body: [
      `Somebody, probably you, asked to reset the password of this account. The link is good for ${minutes} minutes and works once.`,
      "If it was not you, there is nothing to do: your password stays as it is.",
    ],
    button: "Choose a new password",
    reason: "You get this letter because a password reset was asked for at this address.",
  }),

  verifyAddress: () => ({
    subject: "Confirm your address for Tideline",
    preview: "One click, and we know that this address is yours.",
    heading: "Confirm your address",
    body: [
      "Someone, probably you, signed up with this address. Open the link in the browser in which you signed up to confirm it. In any other browser you choose a new password first, and whoever used the account before is signed out.",
      "If you did not sign up, ignore this email.",
    ],
    button: "Confirm this address",
    reason: "You get this letter because this address was used to make an account.",
  }),

  signUpAttempted: ({ resetUrl }) => ({
    subject: "You have a Tideline account already",
    preview: "Somebody tried to make another one with this address.",
    heading: "You have an account already",
    body: [
      "Somebody, probably you, tried to make an account with this address. It has one, and no other was made.",
      {
        text: "Sign in with the password that you chose then. If you have forgotten it, choose a new one here:",
        url: resetUrl,
      },
      "If it was not you, there is nothing to do: whoever it was has learned nothing.",
    ],
    button: "Sign in",
    reason: "You get this letter because this address was used to make an account.",
  }),

  waitlistConfirmation: ({ days }) => ({
    subject: "Confirm your place on the Tideline waitlist",
    preview: "One click, and you are on the list.",
    heading: "Confirm your place",
    body: [
      `This address was left on the waitlist. Confirm that it was you, and you are told when there is room. The link is good for ${days} days.`,
      "If it was not you, ignore this letter, and nothing more happens.",
    ],
    button: "Confirm my place",
    reason: "You get this letter because somebody typed this address on the waitlist page.",
  }),

  waitlistInvitation: ({ days }) => ({
    subject: "There is room for you at Tideline",
    preview: "Your invitation to make an account.",
    heading: "There is room for you",
    body: [
      `The people who run this site invite you to make an account. The link is for this address alone, is good for ${days} days, and works once.`,
      "If you want no account here, ignore this letter.",
    ],
    button: "Make my account",
    reason: "You get this letter because the people who run this site invited this address.",
  }),

  accountDeleted: ({ reader }) => ({
    subject: "Your Tideline account is deleted",
    preview: "Your files and conversations are gone with it.",
    heading: reader ? `${reader}, your account is deleted` : "Your account is deleted",
    body: [
      "Your account is gone from this site, and with it your files and conversations. Backups may hold them until those are replaced.",
      "This is the last letter about it. If it was not you who deleted the account, answer this letter.",
    ],
    reason: "You get this letter because the account with this address was deleted.",
  }),

  orOpen: "Or open this address:",
}
