/** Registrar that sells names, and its access. */
export type RegistrarOptions =
  | { kind: 'local' }
  | ({ kind: 'namesilo'; apiKey: string; paymentId: string | undefined } & Reached)
  | ({ kind: 'name.com'; username: string; token: string } & Reached)

type Reached = {
  url: string
  /** Orders cost money: it is neither a sandbox nor a server of this computer. */
  isReal: boolean
  settlesWithinMs: number
}
