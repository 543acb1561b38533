import type { Change } from "../protocol/contract.ts"
import { lsn, mustEqual } from "./scripted-server.ts"
import type { Stage } from "./stage.ts"

export type Situations = Readonly<Record<string, (stage: Stage) => Promise<void>>>

const one = { _id: "1", size: 1 }
const two = { _id: "2", size: 2 }
const three = { _id: "3", size: 3 }

/** A commit on rows 1 and 2, and the ids shown after it. */
function commits(changes: (id: number) => Change[], shown: string[]) {
  return async (stage: Stage) => {
    const { connection, id } = await stage.begin([one, two])
    connection.commit(changes(id))
    await stage.shows(connection, shown)
  }
}

/** The rows after snapshots and commits. */
export const situationsOfRows: Situations = {
  "a snapshot's rows are shown in their order": async (stage) => {
    const { connection } = await stage.begin([two, one], { order: [["size", "desc"]] })
    await stage.shows(connection, ["2", "1"])
  },
  "rows without an order are shown in any": async (stage) => {
    const { connection, id } = await stage.begin([two, one], { order: [] })
    connection.commit([[id, "put", "3", three]])
    await stage.query()
    const ids = (await stage.rowsOf()).map(({ _id }) => String(_id))
    mustEqual(
      ids.toSorted((left, right) => left.localeCompare(right)),
      ["1", "2", "3"],
      "The rows of a, sorted",
    )
  },
  "an empty snapshot shows no rows": async (stage) => {
    const { connection } = await stage.begin([])
    await stage.shows(connection, [])
  },
  "a later snapshot replaces all rows": async (stage) => {
    const { connection, id } = await stage.begin([one, two])
    connection.rows(id, [three])
    await stage.shows(connection, ["3"])
  },
  "a snapshot in two parts is shown with its last part": async (stage) => {
    const { connection, id } = await stage.begin([one], { more: true })
    await stage.shows(connection, [])
    connection.rows(id, [two])
    await stage.shows(connection, ["1", "2"])
  },
  "a snapshot in three parts is joined in order": async (stage) => {
    const { connection, id } = await stage.begin([one], { more: true })
    connection.rows(id, [two], { more: true })
    connection.rows(id, [three])
    await stage.shows(connection, ["1", "2", "3"])
  },
  "rows stay shown while a newer snapshot's parts arrive": async (stage) => {
    const { connection, id } = await stage.begin([one])
    connection.rows(id, [two], { more: true })
    await stage.shows(connection, ["1"])
    connection.rows(id, [three])
    await stage.shows(connection, ["2", "3"])
  },
  "two subscriptions keep their rows apart": async (stage) => {
    stage.follow("a")
    stage.follow("b", { after: "x" })
    const connection = await stage.connected()
    const items = await stage.subscribed(connection, 2)
    const first = items.find(({ args }) => JSON.stringify(args) === "{}")
    const second = items.find((item) => item !== first)
    connection.rows(second!.id, [two])
    connection.rows(first!.id, [one])
    await stage.shows(connection, ["1"])
    await stage.keeps(["2"], "b")
  },
  "put adds a row": commits((id) => [[id, "put", "3", three]], ["1", "2", "3"]),
  "put replaces a row whole": async (stage) => {
    const { connection, id } = await stage.begin([{ ...one, fileName: "old" }])
    connection.commit([[id, "put", "1", { _id: "1", size: 5 }]])
    await stage.shows(connection, ["1"])
    const [row] = await stage.rowsOf()
    mustEqual([row?.["size"], row?.["fileName"]], [5, undefined], "Size and name")
  },
  "merge overwrites the fields that it names": async (stage) => {
    const { connection, id } = await stage.begin([{ ...one, fileName: "old" }])
    connection.commit([[id, "merge", "1", { size: 9 }]])
    await stage.shows(connection, ["1"])
    const [row] = await stage.rowsOf()
    mustEqual([row?.["size"], row?.["fileName"]], [9, "old"], "Size and name")
  },
  "merge with null sets the field to null": async (stage) => {
    const { connection, id } = await stage.begin([{ ...one, fileName: "old" }])
    connection.commit([[id, "merge", "1", { fileName: null }]])
    await stage.shows(connection, ["1"])
    mustEqual((await stage.rowsOf())[0]?.["fileName"], null, "The name")
  },
  "merge of a row that is not there is ignored": commits(
    (id) => [[id, "merge", "3", { size: 3 }]],
    ["1", "2"],
  ),
  "remove removes a row": commits((id) => [[id, "remove", "1"]], ["2"]),
  "remove of a row that is not there is ignored": commits((id) => [[id, "remove", "3"]], ["1", "2"]),
  "a row that is put and removed in one commit is gone": commits(
    (id) => [
      [id, "put", "3", three],
      [id, "remove", "3"],
    ],
    ["1", "2"],
  ),
  "a row that is removed and put in one commit is there": commits(
    (id) => [
      [id, "remove", "2"],
      [id, "put", "2", two],
    ],
    ["1", "2"],
  ),
  "several states of a row in one commit end with the last": async (stage) => {
    const { connection, id } = await stage.begin([one])
    connection.commit([
      [id, "merge", "1", { size: 5 }],
      [id, "put", "1", { _id: "1", size: 6 }],
      [id, "merge", "1", { size: 7 }],
    ])
    await stage.shows(connection, ["1"])
    mustEqual((await stage.rowsOf())[0]?.["size"], 7, "The size")
  },
  "a commit moves a row from one subscription to another": async (stage) => {
    stage.follow("a")
    stage.follow("b", { after: "x" })
    const connection = await stage.connected()
    const items = await stage.subscribed(connection, 2)
    const first = items.find(({ args }) => JSON.stringify(args) === "{}")!
    const second = items.find((item) => item !== first)!
    connection.rows(first.id, [one])
    connection.rows(second.id, [])
    connection.commit([
      [first.id, "remove", "1"],
      [second.id, "put", "1", one],
    ])
    await stage.shows(connection, [])
    await stage.keeps(["1"], "b")
  },
  "a commit that concerns no subscription changes nothing": commits(() => [], ["1", "2"]),
  "changes of an unknown id are ignored": commits((id) => [[id + 1000, "put", "3", three]], ["1", "2"]),
  "numbers are sorted by value": async (stage) => {
    const { connection, id } = await stage.begin([{ _id: "9", size: 9 }], { order: [["size", "asc"]] })
    connection.commit([[id, "put", "10", { _id: "10", size: 10 }]])
    await stage.shows(connection, ["9", "10"])
  },
  "texts are sorted by bytes, not by language": async (stage) => {
    const { connection, id } = await stage.begin([{ _id: "a", fileName: "a" }], {
      order: [["fileName", "asc"]],
    })
    connection.commit([
      [id, "put", "ä", { _id: "ä", fileName: "ä" }],
      [id, "put", "z", { _id: "z", fileName: "z" }],
      [id, "put", "B", { _id: "B", fileName: "B" }],
    ])
    await stage.shows(connection, ["B", "a", "z", "ä"])
  },
  "texts outside the first plane of Unicode are sorted by their bytes in UTF-8": async (stage) => {
    const { connection, id } = await stage.begin([{ _id: "1", fileName: "\u{1F6A2}" }], {
      order: [["fileName", "asc"]],
    })
    connection.commit([[id, "put", "2", { _id: "2", fileName: "\uFF5E" }]])
    await stage.shows(connection, ["2", "1"])
  },
  "rows that are equal in the order's fields are sorted by _id": async (stage) => {
    const { connection, id } = await stage.begin([{ _id: "b", size: 1 }], { order: [["size", "asc"]] })
    connection.commit([
      [id, "put", "c", { _id: "c", size: 1 }],
      [id, "put", "a", { _id: "a", size: 1 }],
    ])
    await stage.shows(connection, ["a", "b", "c"])
  },
  "null is sorted last in ascending order": async (stage) => {
    const { connection, id } = await stage.begin([{ _id: "1", size: null }], { order: [["size", "asc"]] })
    connection.commit([[id, "put", "2", two]])
    await stage.shows(connection, ["2", "1"])
  },
  "a merge moves a row to its new place": async (stage) => {
    const { connection, id } = await stage.begin([one, two, three], { order: [["size", "asc"]] })
    connection.commit([[id, "merge", "1", { size: 9 }]])
    await stage.shows(connection, ["2", "3", "1"])
  },
  "an event of an unknown kind is counted and ignored": async (stage) => {
    const { connection, id } = await stage.begin([one])
    connection.send("weather", { sun: true })
    connection.commit([[id, "put", "2", two]])
    await stage.shows(connection, ["1", "2"])
  },
  "an unknown field of an event is ignored": async (stage) => {
    const { connection, id } = await stage.begin([one])
    connection.send("commit", {
      lsn: lsn(32),
      at: 0,
      xids: ["7"],
      changes: [[id, "put", "2", two]],
      mood: "calm",
    })
    await stage.shows(connection, ["1", "2"])
  },
  "sixteen events are acknowledged without waiting": async (stage) => {
    const { connection } = await stage.begin([one])
    for (let event = 0; event < 15; event += 1) connection.commit([])
    let acknowledged = 0
    while (acknowledged < 16) acknowledged = await connection.acknowledged.take("acknowledge 16 events")
    mustEqual(acknowledged, 16, "The sequence number acknowledged")
  },
  "64 kB are acknowledged without waiting": async (stage) => {
    const { connection } = await stage.begin([{ _id: "1", fileName: "x".repeat(70_000) }])
    mustEqual(await connection.acknowledged.take("acknowledge 64 kB"), 1, "The sequence number acknowledged")
  },
  "what is left is no longer shown, and its late events are ignored": async (stage) => {
    const { connection, id } = await stage.begin([one])
    stage.follow("b", { after: "x" })
    const [item] = await stage.subscribed(connection)
    connection.rows(item!.id, [three])
    stage.leave("a")
    connection.commit([[id, "put", "2", two]])
    await stage.shows(connection, [])
    await stage.keeps(["3"], "b")
  },
}
