export type RegistrarOptions =
  | { kind: 'local' }
  | ({ kind: 'namesilo'; apiKey: string; paymentId: string | undefined } & RemoteRegistrarOptions)
  | ({ kind: 'name.com'; username: string; token: string } & RemoteRegistrarOptions)

type RemoteRegistrarOptions = {
  url: string
  /** Whether orders cost real money. False for a sandbox environment or a server on this computer. */
  isReal: boolean
  settlesWithinMs: number
}
