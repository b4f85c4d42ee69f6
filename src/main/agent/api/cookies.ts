import type { IncomingHttpHeaders } from 'node:http'
import { sessionCookie } from '../../../shared/contract/localApi.ts'

export function sessionSecretOf({ cookie }: IncomingHttpHeaders): string | undefined {
  for (const part of cookie?.split(';') ?? []) {
    const [name, value] = part.trim().split('=', 2)
    if (name === sessionCookie && value) return value
  }
  return undefined
}

/** Gone with the browser, hidden from scripts, sent by no other site. */
export function sessionCookieHeader(secret: string): string {
  return `${sessionCookie}=${secret}; Path=/; HttpOnly; SameSite=Strict`
}
