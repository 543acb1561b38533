declare module "oidc-provider" {
  export class Provider {
    constructor(issuer: string, configuration: object)
    proxy: boolean
    listen(port: number, host: string, listening: () => void): void
    on(event: string, heard: (...details: unknown[]) => void): void
  }
}
