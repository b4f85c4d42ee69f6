import { windowKeyHeader, windowProtocol } from '#shared/contract/localApi.ts'
import { deviceStore } from '../storage/textStore.ts'

/** Storage is scoped to the origin including the port, unlike cookies. */
const storageKey = 'steward.window-key'

export function saveWindowKey(key: string): void {
  deviceStore.set(storageKey, key)
}

export function readWindowKey(): string | undefined {
  return deviceStore.get(storageKey) ?? undefined
}

/** Calls `fetch` with the window's key. */
export function fetchAsWindow(path: string, init: RequestInit): Promise<Response> {
  const key = readWindowKey()
  const headers = new Headers(init.headers)
  if (key !== undefined) headers.set(windowKeyHeader, key)
  return fetch(path, { ...init, headers })
}

/** Opens a WebSocket with the window's key. */
export function openWindowSocket(url: string): WebSocket {
  const key = readWindowKey()
  return new WebSocket(url, key === undefined ? [] : [windowProtocol.agreed, `${windowProtocol.withKey}${key}`])
}
