/** The mark: two lines of water, one of them level. `name` adds the word beside it. */
export function Logo({ name }: { name?: string }) {
  return (
    <span className="inline-flex items-center gap-2.5 font-semibold tracking-tight">
      <svg
        viewBox="0 0 24 24"
        width="24"
        height="24"
        className="size-6 shrink-0"
        aria-hidden="true"
        focusable="false"
      >
        <rect width="24" height="24" rx="6.5" fill="var(--color-accent)" />
        <path
          d="M4.5 14.25c1.9 0 1.9-1.7 3.75-1.7s1.9 1.7 3.75 1.7 1.9-1.7 3.75-1.7 1.9 1.7 3.75 1.7"
          fill="none"
          stroke="var(--color-on-accent)"
          strokeWidth="2"
          strokeLinecap="round"
        />
        <path
          d="M4.5 8.5h15"
          stroke="var(--color-on-accent)"
          strokeWidth="2"
          strokeLinecap="round"
          opacity="0.55"
        />
      </svg>
      {name}
    </span>
  )
}
