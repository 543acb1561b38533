/** Somebody who is signed in, at an address of their own. */
export interface Person {
  cookie: string
  address: string
}

const PEOPLE = 40
const PASSWORD = "an engine of brass and cards"

/** Makes the accounts on a new database, and signs in to them on one that has them. */
export async function signUpAll(origin: string): Promise<Person[]> {
  const people: Person[] = []
  for (let number = 0; number < PEOPLE; number++) people.push(await signUp(origin, number))
  return people
}

async function signUp(origin: string, number: number): Promise<Person> {
  const address = `10.0.0.${number + 1}`
  const account = { name: `Reader ${number}`, email: `reader${number}@example.org`, password: PASSWORD }
  const headers = { "content-type": "application/json", origin, "x-forwarded-for": address }
  const enter = (path: string) =>
    fetch(origin + path, { method: "POST", headers, body: JSON.stringify(account) })
  let response = await enter("/api/auth/sign-in/email")
  if (!response.ok) response = await enter("/api/auth/sign-up/email")
  if (!response.ok) throw new Error(`No account was made: ${response.status} ${await response.text()}`)
  const cookies = response.headers.getSetCookie().map((line) => line.split(";", 1)[0])
  return { cookie: cookies.join("; "), address }
}

/** Answers the new conversation's id. It has a title, so that the model is not asked for one. */
export async function startThread(origin: string, { cookie, address }: Person): Promise<string> {
  const response = await fetch(`${origin}/api/chat/threads`, {
    method: "POST",
    headers: { "content-type": "application/json", origin, cookie, "x-forwarded-for": address },
    body: JSON.stringify({ title: "Streams" }),
  })
  if (!response.ok) throw new Error(`No conversation was made: ${response.status} ${await response.text()}`)
  const { thread } = (await response.json()) as { thread: { _id: string } }
  return thread._id
}
