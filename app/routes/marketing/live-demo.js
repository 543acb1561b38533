// The demonstration on the start page. Each pane is a client of its own: it has its own stream of the table, and knows nothing of the other.
const demo = document.querySelector("[data-demo]")
const log = demo.querySelector("[data-log]")
const panes = [...demo.querySelectorAll("[data-pane]")].map((element) => ({
  element,
  stream: null,
  boats: [],
}))

/** What was pressed here and is not yet shown by both panes. */
const pressed = new Set()

// Only what somebody looks at keeps a connection: a browser has six for one address.
let isInSight = true
new IntersectionObserver(([entry]) => {
  isInSight = entry.isIntersecting
  followOrRest()
}).observe(demo)
document.addEventListener("visibilitychange", followOrRest)
addEventListener("pagehide", () => panes.forEach(rest))
demo.addEventListener("submit", (event) => void press(event))

function followOrRest() {
  for (const pane of panes) {
    if (isInSight && document.visibilityState === "visible") follow(pane)
    else rest(pane)
  }
}

function follow(pane) {
  if (pane.stream) return
  pane.stream = new EventSource("/demo")
  pane.stream.addEventListener("boats", ({ data }) => show(pane, JSON.parse(data)))
  pane.stream.addEventListener("error", () => {
    describeLiveness(pane, false, "Not connected")
    // Refused, and not only interrupted: the browser does not try again by itself.
    if (pane.stream?.readyState !== EventSource.CLOSED) return
    pane.stream = null
    setTimeout(followOrRest, 30_000)
  })
}

function rest(pane) {
  pane.stream?.close()
  pane.stream = null
  describeLiveness(pane, false, "Not connected")
}

function describeLiveness({ element }, isLive, words) {
  element.toggleAttribute("data-live", isLive)
  element.querySelector("[data-liveness]").textContent = words
}

function show(pane, boats) {
  describeLiveness(pane, true, "Live")
  for (const boat of boats) {
    const before = pane.boats.find(({ name }) => name === boat.name)
    const row = pane.element.querySelector(`[data-boat="${CSS.escape(boat.name)}"]`)
    if (!row) continue
    draw(row, boat)
    for (const field of ["state", "lamp"]) {
      if (before && before[field] !== boat[field]) arrive(pane, row, boat, field)
    }
  }
  pane.boats = boats
}

function draw(row, { name, state, next, lamp }) {
  row.dataset.state = state
  row.dataset.lamp = lamp ? "on" : "off"
  const [lampButton, stateButton] = row.querySelectorAll("button")
  lampButton.value = lamp ? "off" : "on"
  lampButton.setAttribute("aria-pressed", String(lamp))
  stateButton.value = next
  stateButton.setAttribute("aria-label", `${name}: ${state}. Next: ${next}`)
  stateButton.querySelector("[data-words]").textContent = state[0].toUpperCase() + state.slice(1)
}

function arrive(pane, row, boat, field) {
  delete row.dataset.changed
  requestAnimationFrame(() => (row.dataset.changed = ""))
  const value = field === "lamp" ? (boat.lamp ? "on" : "off") : boat.state
  const mine = [...pressed].find(
    (one) => one.boat === boat.name && one.field === field && one.value === value,
  )
  const milliseconds = mine && Math.round(performance.now() - mine.at)
  const statement = `update demo_boats set ${field} = ${field === "lamp" ? boat.lamp : `'${value}'`} where name = '${boat.name}'`
  pane.element.querySelector("[data-lag]").textContent = mine
    ? `${boat.name}: here ${milliseconds} ms after you pressed`
    : `${boat.name}: changed by somebody else, or put back`
  if (pane === panes[0]) {
    const line = write(statement, mine ? "" : "not by you")
    if (mine) mine.line = line
  }
  if (!mine) return
  mine.shownBy.add(pane)
  if (mine.shownBy.size < panes.length) return
  pressed.delete(mine)
  if (mine.line) mine.line.lastChild.textContent = `${milliseconds} ms`
  demo.querySelector("[data-arrived]").textContent =
    `${boat.name} is changed in both panes after ${milliseconds} milliseconds.`
}

/** One line of the log: what was committed, and a note. */
function write(statement, note) {
  const line = document.createElement("li")
  line.className = "flex justify-between gap-4"
  for (const [text, className] of [
    [statement, "min-w-0 sm:truncate"],
    [note, "shrink-0 text-[oklch(0.82_0.13_156)]"],
  ]) {
    const part = document.createElement("span")
    part.className = className
    part.textContent = text
    line.append(part)
  }
  if (log.dataset.log === "") log.replaceChildren()
  log.dataset.log = "begun"
  log.prepend(line)
  while (log.children.length > 4) log.lastChild.remove()
  return line
}

async function press(event) {
  event.preventDefault()
  const form = new FormData(event.target, event.submitter)
  const { name: field, value } = event.submitter
  const one = { boat: form.get("boat"), field, value, at: performance.now(), shownBy: new Set() }
  pressed.add(one)
  setTimeout(() => pressed.delete(one), 10_000)
  refuse("")
  try {
    const response = await fetch("/demo", {
      method: "POST",
      headers: { accept: "application/json" },
      body: new URLSearchParams(form),
    })
    if (response.ok) return
    const { error } = await response.json().catch(() => ({}))
    throw new Error(error ?? "The server could not do that. Try again in a moment.")
  } catch (error) {
    pressed.delete(one)
    refuse(error instanceof TypeError ? "The server cannot be reached." : error.message)
  }
}

function refuse(words) {
  demo.querySelector("[data-refusal]").textContent = words
}
