import type { Socket } from 'node:net'
import { connectPrivately } from '#platform/privateSocket.ts'

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

/** Where to connect, for `node:http` and `node:https` alike. The path is never resolved against the address. */
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

/** Of what is asked there, without a slash at its end. */
export function buildUrl(target: ServiceTarget): string {
  return target.socketPath === undefined ? target.url : `http://${getConnectTarget(target).host}`
}

/** What connects there in the place of Node's own; undefined is Node's own. It throws like `connectPrivately`. */
export function createConnector({ socketPath }: ServiceTarget): (() => Socket) | undefined {
  return socketPath === undefined ? undefined : () => connectPrivately(socketPath)
}
