// Preloaded into the process of a drill: `Date` is ahead by CLOCK_SHIFT milliseconds. Timers,
// performance.now() and the clocks of other programs are not.
const RealDate = Date
const shift = Number(process.env.CLOCK_SHIFT)
globalThis.Date = new Proxy(RealDate, {
  construct: (target, values, type) =>
    Reflect.construct(target, values.length === 0 ? [target.now() + shift] : values, type),
  apply: (target) => new target(target.now() + shift).toString(),
  get: (target, name) => (name === "now" ? () => target.now() + shift : Reflect.get(target, name)),
})
