import { windowKeyHeader } from '#shared/contract/localApi.ts'
import { exchange } from '../processes/runningService.ts'

/** Headers of the user's browser window. Both are required. */
export type PersonSession = { cookie: string; [windowKeyHeader]: string }

/** @param token token from a start URL */
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
