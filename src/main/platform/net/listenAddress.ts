import { isIP } from 'node:net'

export type ListenAddress = { host: string; port: number }

/** Parses `HOST:PORT`, with an IPv6 address in brackets. Returns undefined if invalid. */
export function parseListen(text: string): ListenAddress | undefined {
  const [, bracketed, plain, digits] = /^(?:\[([0-9a-fA-F:.]+)\]|([^\s:[\]/]+)):(\d{1,5})$/.exec(text) ?? []
  const host = bracketed ?? plain
  const port = Number(digits)
  if (host === undefined || port > 65_535 || (bracketed !== undefined && isIP(bracketed) !== 6)) return undefined
  return { host, port }
}

/** Whether the host is reachable only from this computer. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
}

/** Formats `HOST:PORT`, with an IPv6 address in brackets. */
export function formatHostAndPort({ host, port }: ListenAddress): string {
  return isIP(host) === 6 ? `[${host}]:${port}` : `${host}:${port}`
}
