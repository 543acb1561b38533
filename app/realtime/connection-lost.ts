/** The connection was lost before the server replied: whether it acted is unknown. */
export class ConnectionLost extends Error {
  constructor() {
    super("The connection was lost before the server answered.")
    this.name = "ConnectionLost"
  }
}
