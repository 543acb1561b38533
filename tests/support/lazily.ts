/** Stands for what `get` gives once it is there, so that a file can name it before its hooks have run. */
export function lazily<Value extends object>(get: () => Value | undefined): Value {
  const value = () => {
    const there = get()
    if (!there) throw new Error("This exists only while the tests of its file run.")
    return there
  }
  const stand = new Proxy(() => {}, {
    get: (_target, key) => Reflect.get(value(), key) as unknown,
    has: (_target, key) => Reflect.has(value(), key),
    ownKeys: () => Reflect.ownKeys(value()),
    // What the function in the middle does not have itself, it may only call configurable.
    getOwnPropertyDescriptor(_target, key) {
      const there = Reflect.getOwnPropertyDescriptor(value(), key)
      return there && { ...there, configurable: true }
    },
    apply: (_target, self, given) => Reflect.apply(value() as () => unknown, self, given) as unknown,
  })
  return stand as unknown as Value
}
