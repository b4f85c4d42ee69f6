import type { IncomingHttpHeaders } from 'node:http'
import { toSessionCookieName } from '#shared/contract/localApi.ts'

export type SessionCookie = {
  name: string
  /** The secret that a request carries. */
  readSecret(headers: IncomingHttpHeaders): string | undefined
  /** The header that gives it: gone with the browser, hidden from scripts, sent by no other site. */
  header(secret: string): string
}

/** Browsers keep the cookies of all ports of a host together: each Steward names its own by its port. */
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
