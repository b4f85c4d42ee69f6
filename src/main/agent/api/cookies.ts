import type { IncomingHttpHeaders } from 'node:http'
import { toSessionCookieName } from '#shared/contract/localApi.ts'

export type SessionCookie = {
  name: string
  readSecret(headers: IncomingHttpHeaders): string | undefined
  /** Returns the `Set-Cookie` value: a session cookie, hidden from scripts and never sent by other sites. */
  header(secret: string): string
}

/**
 * Creates the session cookie. Its name includes the port, because browsers share cookies between all ports of a host.
 */
export function createSessionCookie(port: number): SessionCookie {
  const cookieName = toSessionCookieName(port)
  return {
    name: cookieName,
    readSecret({ cookie }) {
      for (const part of cookie?.split(';') ?? []) {
        const [name, value] = part.trim().split('=', 2)
        if (name === cookieName && value) return value
      }
      return undefined
    },
    header: (secret) => `${cookieName}=${secret}; Path=/; HttpOnly; SameSite=Strict`,
  }
}
