import { createContext, useContext, useEffect, useEffectEvent, useSyncExternalStore } from 'react'
import { LocalEvent } from '#shared/contract/localApi.ts'
import { readEvent } from '#shared/contract/parseResponse.ts'
import { createEmitter } from '#shared/emitter.ts'

export type LiveListener = (event: LocalEvent) => void
export type LinkState = 'opening' | 'open' | 'lost'

/**
 * Shared connection of the page to the agent's event stream. Listeners refetch their lists after each `ready` event.
 */
export type LiveEvents = {
  subscribe(listener: LiveListener): () => void
  /** `lost` from the first connection error until the connection is open again. */
  state(): LinkState
  onState(listener: () => void): () => void
  close(): void
}

export type LiveEventsOptions = {
  url: string
  openSocket?: (url: string) => WebSocket
  /** Delays before reconnection attempts. The last one repeats. */
  pausesMs?: readonly number[]
}

const defaultPausesMs = [100, 250, 500, 1000, 2000] as const

export function createLiveEvents({
  url,
  openSocket = (address) => new WebSocket(address),
  pausesMs = defaultPausesMs,
}: LiveEventsOptions): LiveEvents {
  const events = createEmitter<LocalEvent>()
  const states = createEmitter()
  let state: LinkState = 'opening'
  let failures = 0
  let socket: WebSocket | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  let closed = false

  const become = (next: LinkState) => {
    if (state === next) return
    state = next
    states.emit()
  }
  const connect = () => {
    timer = undefined
    const opened = openSocket(url)
    socket = opened
    opened.onopen = () => become('open')
    opened.onmessage = ({ data }) => {
      failures = 0 // reset on the first event rather than on open, so that a flapping connection still backs off
      const event = parseEvent(data)
      if (event) events.emit(event)
    }
    opened.onclose = () => {
      if (closed) return
      become('lost')
      timer = setTimeout(connect, pausesMs[Math.min(failures, pausesMs.length - 1)])
      failures++
    }
  }
  connect()

  return {
    subscribe: events.subscribe,
    state: () => state,
    onState: states.subscribe,
    close() {
      closed = true
      clearTimeout(timer)
      socket?.close()
    },
  }
}

/** @returns undefined for unknown event types, because a newer agent may send more of them */
function parseEvent(data: unknown): LocalEvent | undefined {
  if (typeof data !== 'string') return undefined
  try {
    return readEvent(LocalEvent, JSON.parse(data))
  } catch {
    return undefined // not JSON, or not a valid event in this version
  }
}

export const LiveEventsContext = createContext<LiveEvents | undefined>(undefined)

/** Calls the latest `listener` for each event while the component is mounted. */
export function useLiveEvent(listener: LiveListener): void {
  const events = useContext(LiveEventsContext)
  const onEvent = useEffectEvent(listener)
  useEffect(() => events?.subscribe((event) => onEvent(event)), [events])
}

const watchNothing = () => () => {}

export function useLinkState(): LinkState | undefined {
  const events = useContext(LiveEventsContext)
  return useSyncExternalStore(events?.onState ?? watchNothing, () => events?.state())
}
