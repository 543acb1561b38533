// The demonstration on the start page. Each pane is a client of its own: it has its own stream of the table, and knows nothing of the other.
const demo = document.querySelector("[data-demo]")
/** In the page's language, from the page. */
const words = JSON.parse(demo.dataset.words)
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
  pane.stream.addEventListener("audience", ({ data }) => {
    const count = Number(data)
    describeLiveness(pane, true, count > 1 ? fill(words.audience, { count }) : words.live)
  })
  pane.stream.addEventListener("error", () => {
    describeLiveness(pane, false, words.disconnected)
    // Refused, and not only interrupted: the browser does not try again by itself.
    if (pane.stream?.readyState !== EventSource.CLOSED) return
    pane.stream = null
    setTimeout(followOrRest, 30_000)
  })
}

function rest(pane) {
  pane.stream?.close()
  pane.stream = null
  describeLiveness(pane, false, words.disconnected)
}

function describeLiveness({ element }, isLive, text) {
  element.toggleAttribute("data-live", isLive)
  element.querySelector("[data-liveness]").textContent = text
}

function show(pane, boats) {
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
  stateButton.setAttribute(
    "aria-label",
    fill(words.button, { name, now: words.states[state], next: words.states[next] }),
  )
  stateButton.querySelector("[data-state-words]").textContent = words.capitals[state]
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
    ? fill(words.mine, { name: boat.name, milliseconds })
    : fill(words.other, { name: boat.name })
  if (pane === panes[0]) {
    const line = write(statement, mine ? "" : words.notByYou)
    if (mine) mine.line = line
  }
  if (!mine) return
  mine.shownBy.add(pane)
  if (mine.shownBy.size < panes.length) return
  pressed.delete(mine)
  if (mine.line) mine.line.lastChild.textContent = `${milliseconds} ms`
  demo.querySelector("[data-arrived]").textContent = fill(words.arrived, { name: boat.name, milliseconds })
}

/** Puts values where their names stand in braces. */
function fill(text, values) {
  return text.replace(/\{(\w+)\}/g, (_, name) => values[name])
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
    refuse(response.status === 429 ? words.quick : words.failed)
  } catch {
    refuse(words.unreachable)
  }
  pressed.delete(one)
}

function refuse(text) {
  demo.querySelector("[data-refusal]").textContent = text
}
