import { windowKeyHeader } from '#shared/contract/localApi.ts'
import { exchange } from './runningService.ts'

/** Headers of a browser with the user's window; neither suffices alone. */
export type PersonSession = { cookie: string; [windowKeyHeader]: string }

/** @param token of a start address */
export async function openPersonSession(origin: string, token: string): Promise<PersonSession> {
  const { status, headers, json, text } = await exchange(origin, '/local/session', {
    headers: { origin },
    body: { token },
    key: null,
  })
  if (status !== 200) throw new Error(`The session did not open: ${status} ${text}`)
  return {
    cookie: String(headers['set-cookie']).split(';')[0] ?? '',
    [windowKeyHeader]: (json as { window_key: string }).window_key,
  }
}
