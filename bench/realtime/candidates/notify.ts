import type { Server } from "node:http"
import postgres from "postgres"
import { Server as SocketServer } from "socket.io"
import { SELECT_NOTES } from "../notes.ts"

const TRIGGER = `
  create function announce_note() returns trigger language plpgsql as $$
  begin
    perform pg_notify('notes', json_build_object('id', new._id, 'room', new.room)::text);
    return null;
  end $$;
  create trigger announce_note after insert or update on notes for each row execute function announce_note();
`

/**
 * The common approach: a trigger notifies, and the server reads the named row and sends it to the
 * room. This is its cheapest form: only the changed row is read, by its key, and the list is read
 * once, on joining. It guarantees neither order nor the absence of gaps.
 */
export async function openNotify(databaseUrl: string, server: Server): Promise<void> {
  const sql = postgres(databaseUrl, { max: 10, onnotice() {} })
  await sql.unsafe(TRIGGER)
  const io = new SocketServer(server, { transports: ["websocket"] })
  io.on("connection", (socket) => {
    socket.on("subscribe", (room: string, answer: (rows: unknown) => void) => {
      void socket.join(room)
      void sql.unsafe(`${SELECT_NOTES} where room = $1`, [room], { prepare: true }).then(answer)
    })
  })
  await sql.listen("notes", (payload) => {
    const { id, room }: { id: string; room: string } = JSON.parse(payload)
    void sql.unsafe(`${SELECT_NOTES} where _id = $1`, [id], { prepare: true }).then(([row]) => {
      io.to(room).emit("note", row)
    })
  })
}
