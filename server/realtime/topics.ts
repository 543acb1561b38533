import type { DependencyPlace, Subscription } from "./client.ts"
import type { Range } from "./range.ts"
import type { Shape } from "./shapes.ts"

/** A range that somebody follows, and everybody who does. */
export interface Topic {
  readonly range: Range
  readonly followers: Set<Subscription>
}

type Spot = Pick<DependencyPlace, "shape" | "key">

/** What happens at one key of one shape. */
export interface Place {
  readonly topics: ReadonlyMap<string, Topic>
  readonly dependants: ReadonlyMap<Subscription, DependencyPlace["on"]>
}

interface MutablePlace extends Place {
  readonly topics: Map<string, Topic>
  readonly dependants: Map<Subscription, DependencyPlace["on"]>
}

/** Who follows what, found from a change by the places it touches: a commit costs what it touches, not what is followed. */
export interface Topics {
  add(subscription: Subscription): void
  remove(subscription: Subscription): void
  at(shape: Shape, key: string): Place | undefined
  size(): number
}

export function createTopics(): Topics {
  const places = new Map<Shape, Map<string, MutablePlace>>()
  let count = 0

  return {
    add(subscription) {
      const { range } = subscription
      const { topics } = placeAt(range)
      const topic = topics.get(range.identity) ?? { range, followers: new Set() }
      topic.followers.add(subscription)
      topics.set(range.identity, topic)
      for (const dependency of subscription.dependencies) {
        placeAt(dependency).dependants.set(subscription, dependency.on)
      }
      count += 1
    },
    remove(subscription) {
      const { range } = subscription
      const topics = find(range.shape, range.key)?.topics
      const topic = topics?.get(range.identity)
      if (!topic?.followers.delete(subscription)) return
      if (topic.followers.size === 0) topics?.delete(range.identity)
      tidy(range)
      for (const dependency of subscription.dependencies) {
        find(dependency.shape, dependency.key)?.dependants.delete(subscription)
        tidy(dependency)
      }
      count -= 1
    },
    at: find,
    size: () => count,
  }

  function find(shape: Shape, key: string): MutablePlace | undefined {
    return places.get(shape)?.get(key)
  }

  function placeAt({ shape, key }: Spot): MutablePlace {
    let keys = places.get(shape)
    if (!keys) places.set(shape, (keys = new Map()))
    let place = keys.get(key)
    if (!place) keys.set(key, (place = { topics: new Map(), dependants: new Map() }))
    return place
  }

  function tidy({ shape, key }: Spot): void {
    const place = find(shape, key)
    if (place && place.topics.size === 0 && place.dependants.size === 0) places.get(shape)?.delete(key)
  }
}
