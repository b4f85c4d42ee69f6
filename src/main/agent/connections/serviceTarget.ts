import type { Socket } from 'node:net'
import { connectPrivately } from '#platform/privateSocket.ts'

/** Address and credential of a service. */
export type ServiceTarget = {
  /** `http://127.0.0.1:4000`, without a slash at its end */
  url: string
  /** Credential of the user's requests: an API key, or the current access token. Read it for each request. */
  key: string
  /**
   * PEM of the one certificate this service is known by, which then proves it whatever name it is made for;
   * undefined means that a public authority vouches for it.
   */
  certificate: string | undefined
  /** PEM of an authority that vouches for it in the place of the public ones. */
  authority?: string | undefined
  /**
   * A Unix socket that no other user can take, where that service is asked instead of at its address, without TLS. Names,
   * domains and links go on to say the address.
   */
  socketPath?: string | undefined
}

/** TLS options for `node:https` and `ws` alike. */
export function createTlsOptions({ certificate, authority }: ServiceTarget) {
  if (certificate === undefined) return authority === undefined ? {} : { ca: authority }
  return { ca: certificate, allowPartialTrustChain: true, checkServerIdentity: () => undefined }
}

/** Returns connection options for `node:http` and `node:https`. Paths are never resolved against the address. */
export function getConnectTarget({ url, socketPath }: ServiceTarget) {
  const { protocol, hostname, port, host } = new URL(url)
  const isTls = protocol === 'https:'
  return {
    secure: isTls && socketPath === undefined,
    hostname: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? (isTls ? 443 : 80) : Number(port),
    host,
  }
}

/** Builds the URL of a request. The base has no trailing slash. */
export function buildUrl(target: ServiceTarget): string {
  return target.socketPath === undefined ? target.url : `http://${getConnectTarget(target).host}`
}

/** Returns a private connector, or undefined for Node's own. The connector throws like `connectPrivately`. */
export function createConnector({ socketPath }: ServiceTarget): (() => Socket) | undefined {
  return socketPath === undefined ? undefined : () => connectPrivately(socketPath)
}
