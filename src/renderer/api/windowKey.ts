import { windowKeyHeader, windowProtocol } from '#shared/contract/localApi.ts'
import { deviceStore } from '../storage/textStore.ts'

/** The storage of a page is its origin's alone, port included, other than its cookies. */
const storageKey = 'steward.window-key'

export function saveWindowKey(key: string): void {
  deviceStore.set(storageKey, key)
}

export function readWindowKey(): string | undefined {
  return deviceStore.get(storageKey) ?? undefined
}

/** `fetch` as the person's window. */
export function fetchAsWindow(path: string, init: RequestInit): Promise<Response> {
  const key = readWindowKey()
  const headers = new Headers(init.headers)
  if (key !== undefined) headers.set(windowKeyHeader, key)
  return fetch(path, { ...init, headers })
}

/** A WebSocket as the person's window. */
export function openWindowSocket(url: string): WebSocket {
  const key = readWindowKey()
  return new WebSocket(url, key === undefined ? [] : [windowProtocol.agreed, `${windowProtocol.withKey}${key}`])
}
