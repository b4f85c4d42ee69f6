import type { Socket } from 'node:net'
import { connectPrivately } from '#platform/net/privateSocket.ts'

export type ServiceTarget = {
  /** URL without a trailing slash, such as `http://127.0.0.1:4000`. */
  url: string
  /** Credential of the user's requests: an API key, or the current access token. Read it for each request. */
  key: string
  /**
   * PEM of the pinned certificate, which identifies the service regardless of its host name. Undefined if a public
   * authority issued it.
   */
  certificate: string | undefined
  /** PEM of an authority that replaces the public ones. */
  authority?: string | undefined
  /**
   * Unix socket, inaccessible to other users. Requests use the socket without TLS instead of the address. Names,
   * domains and links still contain the address.
   */
  socketPath?: string | undefined
}

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

/** Returns the base URL of requests, without a trailing slash. */
export function buildUrl(target: ServiceTarget): string {
  return target.socketPath === undefined ? target.url : `http://${getConnectTarget(target).host}`
}

/** Returns a private connector, or undefined for Node's default. The connector throws like `connectPrivately`. */
export function createConnector({ socketPath }: ServiceTarget): (() => Socket) | undefined {
  return socketPath === undefined ? undefined : () => connectPrivately(socketPath)
}
