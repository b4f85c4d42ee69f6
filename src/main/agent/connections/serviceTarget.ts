/** Where a service is and how it knows us. */
export type ServiceTarget = {
  /** `http://127.0.0.1:4000`, without a slash at its end */
  url: string
  /** What the person's own requests carry: an API key, or the access token of the moment. Read it when it is used. */
  key: string
  /**
   * PEM of the one certificate this service is known by, which then proves it whatever name it is made for;
   * undefined means that a public authority vouches for it.
   */
  certificate: string | undefined
  /** PEM of an authority that vouches for it in the place of the public ones. */
  authority?: string | undefined
}

/** TLS options for `node:https` and `ws` alike. */
export function tlsOptions({ certificate, authority }: ServiceTarget) {
  if (certificate === undefined) return authority === undefined ? {} : { ca: authority }
  return { ca: certificate, allowPartialTrustChain: true, checkServerIdentity: () => undefined }
}

/** Where to connect, for `node:http` and `node:https` alike. The path is never resolved against the address. */
export function placeOfTarget({ url }: ServiceTarget) {
  const { protocol, hostname, port, host } = new URL(url)
  const secure = protocol === 'https:'
  return {
    secure,
    hostname: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? (secure ? 443 : 80) : Number(port),
    host,
  }
}
