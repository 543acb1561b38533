export interface Person {
  cookie: string
  address: string
}

const PEOPLE = 40
const PASSWORD = "an engine of brass and cards"

/** Creates the accounts in a new database, and signs in to those that already exist. */
export async function signUpAll(origin: string): Promise<Person[]> {
  const people: Person[] = []
  for (let number = 0; number < PEOPLE; number++) people.push(await signUp(origin, number))
  return people
}

/** Creates the account with this number, or signs in to it. */
export async function signUp(origin: string, number: number): Promise<Person> {
  const address = `10.0.0.${number + 1}`
  const account = { email: `reader${number}@example.org`, password: PASSWORD }
  const headers = { "content-type": "application/json", origin, "x-forwarded-for": address }
  const enter = (path: string, body: object) =>
    fetch(origin + path, { method: "POST", headers, body: JSON.stringify(body) })
  let response = await enter("/api/auth/sign-in/email", account)
  if (!response.ok)
    response = await enter("/api/auth/sign-up/email", { ...account, name: `Reader ${number}` })
  if (!response.ok) throw new Error(`No account was made: ${response.status} ${await response.text()}`)
  const cookies = response.headers.getSetCookie().map((line) => line.split(";", 1)[0])
  return { cookie: cookies.join("; "), address }
}
