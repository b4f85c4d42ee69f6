/** Where a service is and how it knows us. */
export type ServiceTarget = {
  /** `http://127.0.0.1:4000`, without a slash at its end */
  url: string
  /** The API key the person's own requests carry. */
  key: string
  /**
   * PEM of the one certificate this service is known by, which then proves it whatever name it is made for;
   * undefined means that a public authority vouches for it.
   */
  certificate: string | undefined
}

/** TLS options for `node:https`, `undici` and `ws` alike. */
export function tlsOptions({ certificate }: ServiceTarget) {
  if (certificate === undefined) return {}
  return { ca: certificate, allowPartialTrustChain: true, checkServerIdentity: () => undefined }
}
