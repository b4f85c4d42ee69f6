import type { Log } from '#platform/logging/log.ts'
import { AppError } from '#shared/appError.ts'
import type { ServiceEvent } from '#shared/contract/events.ts'
import type { ConnectionState, LocalEvent, ServiceConnection } from '#shared/contract/localApi.ts'
import { createEmitter } from '#shared/emitter.ts'
import { createServiceEventStream } from './serviceEventStream.ts'
import type { ServiceTarget } from './serviceTarget.ts'

/** Connection to the service, with its live events. */
export type ServiceLink = {
  status(): ServiceConnection
  /** Endpoint for requests, or undefined without a service. */
  target(): ServiceTarget | undefined
  /** Called when the service is available, or available again, at this address. */
  connect(target: ServiceTarget): void
  /** Marks the service as unavailable; its supervisor calls `connect` again. */
  disconnect(reason: string, code?: AbsenceCode): void
  /** Error for requests while there is no endpoint. */
  absence(): AppError
  /** @returns the unsubscribe function */
  subscribe(listener: (event: LocalEvent) => void): () => void
  /** Calls `listener` when the service is connected but has sent nothing for 30 s. @returns the unsubscribe function */
  onFrozen(listener: () => void): () => void
  close(): void
}

/** Retry delay while the service restarts, in seconds. */
const soon = { retryAfterSeconds: 1 } as const

type AbsenceCode = 'service/unavailable' | 'service/sign-in'
type Options = { name: string; kind: ServiceConnection['kind']; log: Log }

export function createServiceLink({ name, kind, log }: Options): ServiceLink {
  const events = createEmitter<LocalEvent>()
  const frozen = createEmitter()
  let target: ServiceTarget | undefined
  let feed: { close(): void } | undefined
  let state: ConnectionState = 'starting'
  let detail: string | null = null
  let absenceCode: AbsenceCode = 'service/unavailable'

  const status = (): ServiceConnection => ({ name, kind, url: target?.url ?? '', state, detail })
  const change = (next: ConnectionState, why: string | null): void => {
    if (state === next && detail === why) return
    state = next
    detail = why
    log.info('connection changed', { state, detail, url: target?.url })
    events.emit({ type: 'connection.changed', connection: status() })
  }
  const receive = (event: ServiceEvent): void => {
    if (event.type === 'ready') change('connected', null)
    events.emit(event)
  }
  const stop = (): void => {
    feed?.close()
    feed = undefined
    target = undefined
  }

  return {
    status,
    target: () => target,
    absence() {
      if (absenceCode === 'service/unavailable') return new AppError(absenceCode, "The service isn't responding.", soon)
      return new AppError(absenceCode, detail ?? 'You are not signed in to the service.')
    },
    connect(next) {
      stop()
      target = next
      feed = createServiceEventStream({
        target: next,
        log,
        onEvent: receive,
        onLost: (reason) => change('unreachable', reason),
        onResponsive: () => change('connected', null),
        onFrozen: () => frozen.emit(),
      })
    },
    disconnect(reason, code = 'service/unavailable') {
      stop()
      absenceCode = code
      change(code === 'service/sign-in' ? 'signed-out' : 'unreachable', reason)
    },
    subscribe(listener) {
      const unsubscribe = events.subscribe(listener)
      listener({ type: 'connection.changed', connection: status() })
      if (state === 'connected') listener({ type: 'ready' })
      return unsubscribe
    },
    onFrozen: frozen.subscribe,
    close() {
      stop()
      frozen.clear()
      events.clear()
    },
  }
}
