import { Trans, useLingui } from "@lingui/react/macro"
import { useState, type FormEvent, type ReactNode } from "react"
import { useSentences } from "#app/language/sentences.ts"
import { Alert } from "#app/ui/alert.tsx"
import { Button } from "#app/ui/button.tsx"
import { DialogClose } from "#app/ui/dialog.tsx"
import { PlaceAvatar } from "./place-avatar.tsx"
import { useOtherPlaces, type OtherPlace } from "./use-spaces.ts"

/**
 * The content of a dialog that moves or copies something: chooses one of the other places to which
 * the user may add. `children` are what else there is to choose. A refusal stays on the form.
 */
export function PlaceForm({
  submit,
  onPlace,
  children,
}: {
  submit: string
  onPlace: (place: OtherPlace, form: FormData) => Promise<unknown>
  children?: ReactNode
}) {
  const { t } = useLingui()
  const say = useSentences()
  const places = useOtherPlaces()
  const [chosen, setChosen] = useState(0)
  const [isPending, setPending] = useState(false)
  const [problem, setProblem] = useState<string>()
  const place = places[chosen] ?? places[0]

  async function send(form: FormData) {
    if (!place || isPending) return
    setPending(true)
    setProblem(undefined)
    try {
      await onPlace(place, form)
    } catch (error) {
      setProblem(error instanceof Error ? say(error) : t`Something went wrong. Try again.`)
      setPending(false)
    }
  }
  return (
    <form
      onSubmit={(event: FormEvent<HTMLFormElement>) => {
        event.preventDefault()
        void send(new FormData(event.currentTarget))
      }}
    >
      <fieldset>
        <legend className="sr-only">
          <Trans>Where to</Trans>
        </legend>
        <div className="max-h-64 overflow-y-auto rounded-lg border border-line">
          {places.map(({ spaceId, name, space }, at) => (
            <label
              key={spaceId ?? "personal"}
              className="flex min-h-11 cursor-pointer items-center gap-3 border-line px-3 text-sm not-first:border-t hover:bg-hover has-checked:bg-accent-soft has-focus-visible:outline-2 has-focus-visible:-outline-offset-2 has-focus-visible:outline-accent"
            >
              <input
                type="radio"
                name="place"
                value={spaceId ?? "personal"}
                checked={places[chosen] ? at === chosen : at === 0}
                onChange={() => setChosen(at)}
                className="size-4 shrink-0 accent-accent outline-hidden"
              />
              <PlaceAvatar space={space} />
              <span dir="auto" className="min-w-0 flex-1 truncate">
                {name}
              </span>
            </label>
          ))}
        </div>
      </fieldset>
      {children}
      {problem === undefined ? null : <Alert tone="danger" title={problem} className="mt-4" />}
      <div className="mt-6 flex flex-wrap justify-end gap-2">
        <DialogClose
          render={
            <Button variant="secondary">
              <Trans>Cancel</Trans>
            </Button>
          }
        />
        <Button type="submit" pending={isPending} disabled={!place}>
          {submit}
        </Button>
      </div>
    </form>
  )
}
