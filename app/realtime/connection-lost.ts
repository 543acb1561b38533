/** The connection went away before the server answered: whether it acted is not known. */
export class ConnectionLost extends Error {
  constructor() {
    super("The connection was lost before the server answered.")
    this.name = "ConnectionLost"
  }
}
