/**
 * A water surface behind a page. The parent must be positioned and isolate its stacking context.
 */
export function Water() {
  return (
    <svg
      aria-hidden="true"
      viewBox="0 0 1440 220"
      preserveAspectRatio="none"
      className="pointer-events-none absolute inset-x-0 bottom-0 -z-10 h-32 w-full text-accent-soft sm:h-52"
    >
      <path
        d="M0 96c120 0 180-40 320-40s220 56 380 56 240-64 400-64 240 40 340 40v132H0z"
        fill="currentColor"
        opacity="0.55"
      />
      <path
        d="M0 150c140 0 220-34 360-34s240 46 380 46 260-52 400-52 220 30 300 30v80H0z"
        fill="currentColor"
      />
      <path
        d="M0 150c140 0 220-34 360-34s240 46 380 46 260-52 400-52 220 30 300 30"
        fill="none"
        stroke="var(--color-accent-line)"
        vectorEffect="non-scaling-stroke"
      />
    </svg>
  )
}
