import type { ComponentProps } from "react"
import { classNames } from "./class-names.ts"

export type IconName = keyof typeof shapes

/**
 * A 16 by 16 line icon in the colour of the text. Hidden from screen readers, because there is text
 * beside it.
 */
export function Icon({ name, className, ...rest }: ComponentProps<"svg"> & { name: IconName }) {
  return (
    <svg
      {...rest}
      viewBox="0 0 16 16"
      width="16" // if the style sheet fails to load, icons must not fill the page
      height="16"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.5"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      focusable="false"
      className={classNames("size-4 shrink-0", className)}
    >
      <path d={shapes[name]} />
    </svg>
  )
}

/**
 * Each is a single path, even if it draws several lines, because icons are most of a page's
 * elements.
 */
const shapes = {
  archive: "M2 2.75h12v3H2z M3 5.75v7.5h10v-7.5 M6.5 8.5h3",
  "arrow-down": "M8 3v10 M4 9l4 4 4-4",
  "arrow-left": "M13 8H3 M7 4L3 8l4 4",
  "arrow-right": "M3 8h10 M9 4l4 4-4 4",
  "arrow-up": "M8 13V3 M4 7l4-4 4 4",
  bell: "M8 1.75a4 4 0 0 0-4 4c0 3.75-1.5 5.25-1.5 5.25h11S12 9.5 12 5.75a4 4 0 0 0-4-4z M6.5 13.5a1.75 1.75 0 0 0 3 0",
  bolt: "M8.5 1.75L3.25 9h4l-.75 5.25L12.75 7h-4.5z",
  book: "M8 4.25c-1.4-1-3.2-1.4-5.75-1.4v9.3c2.55 0 4.35.4 5.75 1.6 1.4-1.2 3.2-1.6 5.75-1.6v-9.3c-2.55 0-4.35.4-5.75 1.4z M8 4.25v9.25",
  chat: "M14 8c0 3-2.7 5-6 5-.9 0-1.7-.1-2.4-.4L2.5 13.5l.9-2.5C2.5 10.2 2 9.2 2 8c0-3 2.7-5 6-5s6 2 6 5z",
  check: "M3 8.5l3.25 3.25L13 4.75",
  "check-circle": "M14.25 8a6.25 6.25 0 1 1-12.5 0 6.25 6.25 0 0 1 12.5 0z M5.5 8.25l1.75 1.75L10.75 6.25",
  "chevron-down": "M4 6l4 4 4-4",
  "chevron-left": "M10 4L6 8l4 4",
  "chevron-up": "M4 10l4-4 4 4",
  "chevron-right": "M6 4l4 4-4 4",
  clock: "M14.25 8a6.25 6.25 0 1 1-12.5 0 6.25 6.25 0 0 1 12.5 0z M8 4.5V8l2.25 1.5",
  code: "M5.5 4.5L2 8l3.5 3.5 M10.5 4.5L14 8l-3.5 3.5",
  copy: "M5.75 5.75h7.5v7.5h-7.5z M10.25 5.75v-3h-7.5v7.5h3",
  database:
    "M13.25 3.75c0 1.1-2.35 2-5.25 2s-5.25-.9-5.25-2 2.35-2 5.25-2 5.25.9 5.25 2z M2.75 3.75v8.5c0 1.1 2.35 2 5.25 2s5.25-.9 5.25-2v-8.5 M2.75 8c0 1.1 2.35 2 5.25 2s5.25-.9 5.25-2",
  download: "M8 2v8 M4.5 7L8 10.5 11.5 7 M2.5 13.5h11",
  edit: "M10.75 2.75l2.5 2.5-7.5 7.5-3 .5.5-3z",
  external: "M6.5 3h-3.75v10.25H13V9.5 M9.5 2.75h3.75V6.5 M13.25 2.75L7.5 8.5",
  eye: "M1.75 8S4 3.75 8 3.75 14.25 8 14.25 8 12 12.25 8 12.25 1.75 8 1.75 8z M9.75 8a1.75 1.75 0 1 1-3.5 0 1.75 1.75 0 0 1 3.5 0z",
  "eye-off":
    "M3.75 10.9C2.4 9.6 1.75 8 1.75 8S4 3.75 8 3.75c.9 0 1.7.2 2.4.5 M12.6 5.5c1.1 1.2 1.65 2.5 1.65 2.5S12 12.25 8 12.25c-.7 0-1.3-.1-1.9-.3 M2.75 13.25l10.5-10.5",
  file: "M9 1.75H3.75v12.5h8.5V5z M9 1.75V5h3.25",
  film: "M2.25 2.75h11.5v10.5H2.25z M5 2.75v10.5 M11 2.75v10.5 M2.25 8h11.5 M2.25 5.4H5 M2.25 10.6H5 M11 5.4h2.75 M11 10.6h2.75",
  folder: "M1.75 12.75v-9.5h4.5l1.5 2h6.5v7.5z",
  home: "M2.5 7L8 2.25 13.5 7v6.75h-3.75V9.5h-3.5v4.25H2.5z",
  image: "M2.25 2.75h11.5v10.5H2.25z M2.25 11l3.25-3 2.5 2.25L10.5 8l3.25 3 M6 5.75h.01",
  info: "M14.25 8a6.25 6.25 0 1 1-12.5 0 6.25 6.25 0 0 1 12.5 0z M8 7.5V11 M8 5.1h.01",
  key: "M9.25 6.75a3.25 3.25 0 1 1-6.5 0 3.25 3.25 0 0 1 6.5 0z M8.5 9l5 5 M11.25 11.75l1.5-1.5",
  keyboard: "M1.5 4h13v8h-13z M4 6.75h.01 M6.67 6.75h.01 M9.33 6.75h.01 M12 6.75h.01 M5 9.5h6",
  layers: "M8 2L14 5.25 8 8.5 2 5.25z M2.5 8.25L8 11.25l5.5-3 M2.5 11L8 14l5.5-3",
  link: "M6.75 9.25l2.5-2.5 M7.25 4.5l1.1-1.1a3 3 0 0 1 4.25 4.25L11.5 8.75 M8.75 11.5l-1.1 1.1a3 3 0 0 1-4.25-4.25L4.5 7.25",
  lock: "M3.25 7.25h9.5v6.5h-9.5z M5.25 7.25V5a2.75 2.75 0 0 1 5.5 0v2.25",
  mail: "M1.75 3.25h12.5v9.5H1.75z M2 4l6 4.75L14 4",
  menu: "M2.25 4.5h11.5 M2.25 8h11.5 M2.25 11.5h11.5",
  monitor: "M1.75 2.75h12.5v8.5H1.75z M5.5 14h5 M8 11.25V14",
  moon: "M13.5 9.5A5.75 5.75 0 0 1 6.5 2.5a5.75 5.75 0 1 0 7 7z",
  more: "M3.75 8a.5.5 0 1 1-1 0 .5.5 0 0 1 1 0z M8.5 8a.5.5 0 1 1-1 0 .5.5 0 0 1 1 0z M13.25 8a.5.5 0 1 1-1 0 .5.5 0 0 1 1 0z",
  music:
    "M6 12V3.25l7-1.25v8.75 M6 12a1.9 1.75 0 1 1-3.8 0 1.9 1.75 0 0 1 3.8 0z M13 10.75a1.9 1.75 0 1 1-3.8 0 1.9 1.75 0 0 1 3.8 0z",
  pause: "M5.25 3.5v9 M10.75 3.5v9",
  play: "M4.75 3v10l8-5z",
  plug: "M5.5 1.75v3 M10.5 1.75v3 M3.5 4.75h9V7.5a4.5 4.5 0 0 1-9 0z M8 12v2.25",
  plus: "M8 3v10 M3 8h10",
  refresh: "M13.25 8A5.25 5.25 0 1 1 11.5 4.1L13.25 5.5 M13.25 2.25V5.5H10",
  search: "M11.5 7a4.5 4.5 0 1 1-9 0 4.5 4.5 0 0 1 9 0z M10.25 10.25l3.5 3.5",
  send: "M8 13.25V3 M3.75 7.25L8 3l4.25 4.25",
  server: "M2.25 2.75h11.5v4.5H2.25z M2.25 8.75h11.5v4.5H2.25z M4.75 5h.01 M4.75 11h.01",
  settings:
    "M2 4.75h6.5 M12 4.75h2 M2 11.25h2 M7.5 11.25H14 M12 4.75a1.75 1.75 0 1 1-3.5 0 1.75 1.75 0 0 1 3.5 0z M7.5 11.25a1.75 1.75 0 1 1-3.5 0 1.75 1.75 0 0 1 3.5 0z",
  shield: "M8 1.75L2.75 3.75v4c0 3.25 2.2 5.4 5.25 6.5 3.05-1.1 5.25-3.25 5.25-6.5v-4z",
  "sign-out": "M6.25 2.75h-3.5v10.5h3.5 M6.5 8h7 M10.75 5L13.75 8l-3 3",
  sparkle: "M8 2l1.45 4.05L13.5 7.5 9.45 8.95 8 13 6.55 8.95 2.5 7.5l4.05-1.45z",
  stop: "M4 4h8v8H4z",
  sun: "M10.75 8a2.75 2.75 0 1 1-5.5 0 2.75 2.75 0 0 1 5.5 0z M8 1.5v1.25 M8 13.25v1.25 M1.5 8h1.25 M13.25 8h1.25 M3.4 3.4l.9.9 M11.7 11.7l.9.9 M3.4 12.6l.9-.9 M11.7 4.3l.9-.9",
  table: "M2.25 2.75h11.5v10.5H2.25z M2.25 6.25h11.5 M2.25 9.75h11.5 M6.5 6.25v7",
  terminal: "M1.75 2.75h12.5v10.5H1.75z M4.5 6l2 2-2 2 M8.5 10.25h3",
  text: "M9 1.75H3.75v12.5h8.5V5z M9 1.75V5h3.25 M6 8h4 M6 10.75h4",
  trash: "M2.5 4.25h11 M6 4.25v-2h4v2 M4 4.25l.6 9.5h6.8l.6-9.5 M6.75 7v4 M9.25 7v4",
  undo: "M3 3.25V6.5h3.25 M3 6.5a5.5 5.5 0 1 1 .9 5.25",
  upload: "M8 10.5V2.5 M4.5 6L8 2.5 11.5 6 M2.5 13.5h11",
  user: "M10.75 5a2.75 2.75 0 1 1-5.5 0 2.75 2.75 0 0 1 5.5 0z M2.75 14c.4-2.9 2.5-4.5 5.25-4.5s4.85 1.6 5.25 4.5",
  warning: "M8 2.25L14.5 13.5h-13z M8 6.5v3 M8 11.5h.01",
  waves:
    "M1.5 5.5c1.6 0 1.6-1.25 3.25-1.25S6.4 5.5 8 5.5s1.6-1.25 3.25-1.25S12.9 5.5 14.5 5.5 M1.5 8.75c1.6 0 1.6-1.25 3.25-1.25S6.4 8.75 8 8.75s1.6-1.25 3.25-1.25 1.65 1.25 3.25 1.25 M1.5 12c1.6 0 1.6-1.25 3.25-1.25S6.4 12 8 12s1.6-1.25 3.25-1.25S12.9 12 14.5 12",
  x: "M4 4l8 8 M12 4l-8 8",
} as const

/** For a page that shows them all. */
export const iconNames = Object.keys(shapes) as IconName[]
