import type { DependencyPlace, Subscription } from "./client.ts"
import type { Range } from "./range.ts"
import { keysTouched, type Shape, type Shapes } from "./shapes.ts"
import type { RowChange } from "./tables.ts"

/** A followed range, and its subscriptions. */
export interface Topic {
  readonly range: Range
  readonly followers: Set<Subscription>
}

type Spot = Pick<DependencyPlace, "shape" | "key">

/** The subscriptions at one key of one shape. */
interface Place {
  readonly topics: Map<string, Topic>
  readonly dependants: Map<Subscription, DependencyPlace["on"]>
}

/** A place that a change touches. */
export interface Touched extends Spot {
  readonly change: RowChange
  readonly place: Place
}

/**
 * Finds the followers of a change by the places that it touches: a commit costs what it touches,
 * not what is followed.
 */
export interface Topics {
  add(subscription: Subscription): void
  remove(subscription: Subscription): void
  /** The places that the changes touch and somebody follows, in the order of the changes. */
  touchedBy(changes: readonly RowChange[]): Touched[]
  size(): number
}

export function createTopics(shapes: Shapes): Topics {
  const places = new Map<Shape, Map<string, Place>>()
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
    touchedBy(changes) {
      const touched: Touched[] = []
      for (const change of changes) {
        for (const shape of shapes.of(change.table)) {
          for (const key of keysTouched(shape, change)) {
            const place = find(shape, key)
            if (place) touched.push({ change, shape, key, place })
          }
        }
      }
      return touched
    },
    size: () => count,
  }

  function find(shape: Shape, key: string): Place | undefined {
    return places.get(shape)?.get(key)
  }

  function placeAt({ shape, key }: Spot): Place {
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
