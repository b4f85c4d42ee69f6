import { windowKeyHeader, windowProtocol } from '#shared/contract/localApi.ts'
import { deviceStore } from '../ui/storage/textStore.ts'

/** The storage of a page is its origin's alone, port included, other than its cookies. */
const storageKey = 'steward.window-key'

export function keepWindowKey(key: string): void {
  deviceStore.set(storageKey, key)
}

export function windowKey(): string | undefined {
  return deviceStore.get(storageKey) ?? undefined
}

/** `fetch` as the person's window. */
export function windowFetch(path: string, init: RequestInit): Promise<Response> {
  const key = windowKey()
  const headers = new Headers(init.headers)
  if (key !== undefined) headers.set(windowKeyHeader, key)
  return fetch(path, { ...init, headers })
}

/** A WebSocket as the person's window. */
export function windowSocket(url: string): WebSocket {
  const key = windowKey()
  return new WebSocket(url, key === undefined ? [] : [windowProtocol.agreed, `${windowProtocol.withKey}${key}`])
}
