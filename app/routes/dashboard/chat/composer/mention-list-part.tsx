import { plural } from "@lingui/core/macro"
import { useLingui } from "@lingui/react/macro"
import { Icon } from "#app/ui/icon.tsx"
import { ASSISTANT } from "#server/chat/addressee-contract.ts"
import { Avatar } from "#app/ui/avatar.tsx"
import { classNames } from "#app/ui/class-names.ts"
import type { Mentioning } from "./use-mentioning.ts"
import { optionId } from "./use-mentioning.ts"

/** The members that can be mentioned, beside the field in which the mention is typed. */
export function MentionList({ mentioning, className }: { mentioning: Mentioning; className: string }) {
  const { t } = useLingui()
  const { list, options, highlighted, choose } = mentioning
  return (
    <>
      <div
        id={list}
        role="listbox"
        aria-label={t`Members to mention`}
        className={classNames(
          "max-h-[min(18rem,40dvh)] overflow-y-auto rounded-xl border bg-raised p-1.5",
          className,
        )}
      >
        {options.map((member, place) => {
          const { userId, memberName, memberEmail, memberImageUrl } = member
          return (
            <button
              key={userId}
              type="button"
              tabIndex={-1}
              id={optionId(list, place)}
              role="option"
              aria-selected={place === highlighted}
              ref={place === highlighted ? keepInView : null}
              // The field keeps the focus, and on a phone its keyboard.
              onMouseDown={(event) => event.preventDefault()}
              onClick={() => choose(member)}
              className="flex min-h-10 w-full cursor-default items-center gap-2.5 rounded-md px-2 text-left text-sm select-none hover:bg-hover aria-selected:bg-hover aria-selected:outline-2 aria-selected:-outline-offset-2 aria-selected:outline-transparent touch:min-h-12"
            >
              {userId === ASSISTANT ? (
                <Icon name="sparkle" className="mx-1.5 text-accent-ink" />
              ) : (
                <Avatar name={memberName ?? memberEmail} image={memberImageUrl} className="size-7!" />
              )}
              <span className="max-w-3/4 shrink-0 truncate">{memberName ?? memberEmail}</span>
              {memberName ? (
                <span className="min-w-0 flex-1 truncate text-right text-xs text-faint">
                  {userId === ASSISTANT ? t`replies to your message` : memberEmail}
                </span>
              ) : null}
            </button>
          )
        })}
      </div>
      <p role="status" className="sr-only">
        {t`${plural(options.length, {
          one: "1 member to mention. Press Enter to choose.",
          other: "# members to mention. Choose with the arrow keys and Enter.",
        })}`}
      </p>
    </>
  )
}

function keepInView(option: HTMLElement | null) {
  option?.scrollIntoView({ block: "nearest" })
}
