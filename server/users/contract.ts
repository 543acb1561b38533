import * as v from "valibot"
import { reason } from "#server/reason-contract.ts"
import { withoutControlCharacters } from "#server/text-contract.ts"
import type { User } from "#db/schema/users.ts"

/** The fields of a record that clients see. */
export const RECORD_FIELDS = [
  "_id",
  "_creationTime",
  "clerkId",
  "email",
  "name",
  "imageUrl",
  "plan",
  "onboardingCompleted",
  "onboardingStep",
] as const satisfies readonly (keyof User)[]

export type UserRecord = Pick<User, (typeof RECORD_FIELDS)[number]>

export type Plan = NonNullable<User["plan"]>

export type OnboardingStep = NonNullable<User["onboardingStep"]>

export const ONBOARDING_STEPS = [
  "welcome",
  "profile",
  "first-steps",
  "done",
] as const satisfies readonly OnboardingStep[]

export interface OnboardingStatus {
  completed: boolean
  step: OnboardingStep
}

/** The steps that are finished by moving on. Completing the onboarding finishes the last one. */
export const PASSABLE_STEPS = ["welcome", "profile"] as const satisfies readonly OnboardingStep[]
export type PassableStep = (typeof PASSABLE_STEPS)[number]

/** A name chosen by a person. */
export const PersonName = v.pipe(
  v.string(reason("name-missing")),
  v.trim(),
  v.nonEmpty(reason("name-missing")),
  v.maxLength(100, reason("name-too-long")),
  withoutControlCharacters,
)

/** The identity provider's id of a person, whichever provider it is. */
export const ClerkId = v.pipe(v.string(), v.nonEmpty(), v.maxLength(255))

/**
 * The identity provider's values for a person, as the sync sends them. Absent and null mean the
 * same.
 */
export const CreateOrUpdateUser = v.strictObject({
  clerkId: ClerkId,
  /** Empty if the provider knows no email address. */
  email: v.pipe(v.string(), v.maxLength(320), withoutControlCharacters),
  /** Unless the provider reports this very name, it also has to be a `PersonName`. */
  name: v.nullish(v.pipe(v.string(), v.maxLength(512), withoutControlCharacters)),
  imageUrl: v.nullish(
    v.pipe(
      v.string(),
      v.maxLength(2048),
      withoutControlCharacters,
      v.check(isWebAddress, reason("image-url-unfit")),
    ),
  ),
  plan: v.picklist(["free", "pro"]),
})
export type CreateOrUpdateUser = v.InferOutput<typeof CreateOrUpdateUser>

export const SaveProfile = v.strictObject({
  name: v.pipe(
    v.string(reason("name-missing")),
    v.transform((text) => text.replaceAll(/\s+/g, " ")),
    PersonName,
  ),
})
export type SaveProfile = v.InferOutput<typeof SaveProfile>

/**
 * True if a sync is due: there is no record, or the provider's values differ. Rule 1 of the user
 * record in docs/http-api.md.
 */
export function isOutOfDate(record: UserRecord | null, provider: CreateOrUpdateUser): boolean {
  return (
    record === null ||
    record.email !== provider.email ||
    record.name !== (provider.name ?? null) ||
    record.imageUrl !== (provider.imageUrl ?? null) ||
    record.plan !== provider.plan
  )
}

/** A person's progress in onboarding. An empty record is at the first step. */
export function onboardingOf(
  user: Pick<UserRecord, "onboardingCompleted" | "onboardingStep">,
): OnboardingStatus {
  if (user.onboardingCompleted) return { completed: true, step: "done" }
  return { completed: false, step: user.onboardingStep ?? "welcome" }
}

function isWebAddress(text: string): boolean {
  const url = URL.parse(text)
  return url !== null && /^https?:$/.test(url.protocol) && url.username === "" && url.password === ""
}
