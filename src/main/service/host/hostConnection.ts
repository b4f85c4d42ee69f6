import type { Duplex } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { z } from 'zod'
import { createByteStream } from '#platform/ipc/byteStream.ts'
import { connectIpc, type IpcClient, type IpcStream } from '#platform/ipc/ipcClient.ts'
import type { Log } from '#platform/logging/log.ts'
import type { HostProcess } from '#platform/processes/hostProcess.ts'
import { AppError } from '#shared/appError.ts'
import { type FolderArchive, HostEvent, hostIpcVersion, type PortConnect } from '#shared/contract/hostIpc.ts'
import type { SandboxHost } from '#shared/contract/sandboxHost.ts'
import { callHost, type HostCall, type HostCalls } from './hostCalls.ts'
import { createHostHeartbeat } from './hostHeartbeat.ts'

/** A host with another protocol version: from an earlier Steward, or from a later one after a downgrade. */
type OtherHost = { version: string; runningSandboxes: number }

/** Part of the protocol that all versions share. */
const HostDescription = z.looseObject({ ipcVersion: z.int(), version: z.string() })
const SandboxList = z.looseObject({ machines: z.array(z.unknown()) })
const otherHostTimeoutMs = 30_000

export type HostConnection = HostCalls & {
  /** Starts reporting. The host may already be started, but calls wait for this. */
  start(): void
  /** Whether the host has been unreachable for longer than a restart takes. */
  isAway(): boolean
  state(): SandboxHost
  /**
   * Stops the sandboxes of a host of another version and waits for a compatible one.
   * @throws AppError `host/unavailable` if none starts in time
   */
  replace(): Promise<void>
  /** Ends the connection. The host and its sandboxes keep running. */
  close(): Promise<void>
}

export type HostEnding = 'stopped' | 'crashed'

export type HostConnectionOptions = {
  path: string
  /** Starts a host process. Resolves after the start, which may be before the host listens. */
  launch: () => Promise<void>
  onEvent: (event: HostEvent) => void
  /** Called after each connect and before any other call, to reconcile the service's state with the host. */
  onConnected: (call: HostCall) => Promise<void>
  /** Called at the start and after each loss of the host, when neither the host nor any of its sandboxes is running. */
  onNobody: (ending: HostEnding) => Promise<void>
  /** Whether the last host left behind its pid file, which a clean exit removes. */
  hasCrashed: () => boolean
  /** Time that calls wait for a lost host, in milliseconds. */
  waitMs: number
  /** Finds the host's process, to kill it when it hangs. */
  findHost: () => Promise<HostProcess | undefined>
  heartbeat?: { intervalMs: number; maxSilentMs: number }
  log: Log
  now: () => number
}

const connectDeadlineMs = 5000
const restartMs = 5000
/** Time for sandboxes to stop and a new host to listen. */
const replaceMs = 60_000
const pauses = { firstMs: 10, nobodyMs: 250, otherMs: 5000 } as const
/** Time for a launched host to listen before another one is launched. Doubles with each attempt. */
const launches = { firstMs: 15_000, maxMs: 60_000 } as const
/** Delays before a host is started again that ended soon after its start. */
const relaunches = { soonMs: 10_000, firstMs: 100, maxMs: 30_000 } as const

/** Maintains a connection to the sandbox host, and starts a host if none listens. Reports nothing before `start`. */
export function createHostConnection(options: HostConnectionOptions): HostConnection {
  const { log, now } = options
  const closing = new AbortController()
  const mayReport = Promise.withResolvers<void>()
  closing.signal.addEventListener('abort', () => mayReport.resolve(), { once: true })
  let live: IpcClient | undefined
  let connected = Promise.withResolvers<IpcClient>()
  let awaySinceMs = now()
  let whyAway: AppError | undefined
  let otherHost: OtherHost | undefined
  let mayStopOther = false
  let wake = new AbortController()
  const heartbeat = createHostHeartbeat({ findHost: options.findHost, log, ...options.heartbeat })

  const receive = (event: unknown): void => {
    const { success, data, error } = HostEvent.safeParse(event)
    if (success) options.onEvent(data)
    else log.error('unknown event from sandbox host', { error })
  }

  const connect = async (): Promise<IpcClient> => {
    const signal = AbortSignal.any([closing.signal, AbortSignal.timeout(connectDeadlineMs)])
    const client = await connectIpc({ path: options.path, onEvent: receive, signal })
    // Closing the connection ends pending calls, which have no signal.
    closing.signal.addEventListener('abort', client.close, { once: true })
    void client.ended.then(() => closing.signal.removeEventListener('abort', client.close))
    heartbeat.watch(client)
    try {
      closing.signal.throwIfAborted()
      const call: HostCall = (method, params, options) => callHost(client, { method, params }, options)
      otherHost = await findOtherHost(client)
      if (otherHost) {
        if (otherHost.runningSandboxes > 0 && !mayStopOther) throw createOtherVersionError(otherHost)
        await endOtherHost(client)
        throw createReplacingError(otherHost)
      }
      mayStopOther = false
      await mayReport.promise
      closing.signal.throwIfAborted()
      await options.onConnected(call)
      return client
    } catch (error) {
      client.close()
      throw error
    }
  }

  const keepConnected = async (): Promise<void> => {
    let pauseMs: number = pauses.firstMs
    let nextLaunchAtMs = 0
    let launchPauseMs: number = launches.firstMs
    let relaunchPauseMs: number = relaunches.firstMs
    let hasReportedDown = false
    while (!closing.signal.aborted) {
      try {
        live = await connect()
        hasReportedDown = false
        connected.resolve(live)
        const sinceMs = now()
        log.info('connected to the sandbox host')
        await live.ended
        live = undefined
        connected = Promise.withResolvers()
        awaySinceMs = now()
        whyAway = undefined
        if (closing.signal.aborted) return
        log.warn('connection to the sandbox host closed')
        pauseMs = pauses.firstMs
        launchPauseMs = launches.firstMs
        const lastedMs = now() - sinceMs
        relaunchPauseMs =
          lastedMs > relaunches.soonMs ? relaunches.firstMs : Math.min(relaunchPauseMs * 2, relaunches.maxMs)
        nextLaunchAtMs = now() + relaunchPauseMs
      } catch (error) {
        if (closing.signal.aborted) return
        const isDown = isNotListening(error)
        if (isDown) {
          heartbeat.reset()
          otherHost = undefined
        }
        if (!isDown) log.warn('cannot use the sandbox host', { error })
        whyAway = error instanceof AppError ? error : undefined
        const ending = options.hasCrashed() ? 'crashed' : 'stopped' // the next host overwrites the pid file
        if (isDown && now() >= nextLaunchAtMs) {
          nextLaunchAtMs = now() + launchPauseMs
          launchPauseMs = Math.min(launchPauseMs * 2, launches.maxMs)
          await options
            .launch()
            .catch((cause: unknown) => log.error('failed to start the sandbox host', { error: cause }))
          pauseMs = pauses.firstMs
        }
        if (isDown && !hasReportedDown) {
          await mayReport.promise
          if (closing.signal.aborted) return
          hasReportedDown = true
          await options
            .onNobody(ending)
            .catch((cause: unknown) => log.error('failed to record the end of the sandbox host', { error: cause }))
        }
        pauseMs = Math.min(pauseMs * 1.5, isDown ? pauses.nobodyMs : pauses.otherMs)
      }
      wake = new AbortController()
      await pause(pauseMs, undefined, { signal: AbortSignal.any([closing.signal, wake.signal]) }).catch(() => {})
    }
  }

  const away = (): AppError =>
    whyAway ?? new AppError('host/unavailable', "The sandbox host isn't responding.", { retryAfterSeconds: 1 })
  const soon = (): Promise<IpcClient> => within(connected.promise, awaySinceMs + options.waitMs - now(), away)
  const running = keepConnected()

  return {
    start: () => mayReport.resolve(),
    state: () => ({
      state: live ? 'connected' : otherHost ? 'other-version' : 'away',
      version: (!live && otherHost?.version) || null,
      running_sandboxes: live ? 0 : (otherHost?.runningSandboxes ?? 0),
    }),
    async replace() {
      if (live) return
      mayStopOther = otherHost !== undefined
      wake.abort()
      await within(connected.promise, replaceMs, away)
    },
    isAway: () => live === undefined && now() - awaySinceMs > restartMs,
    call: async (method, params, options) => callHost(live ?? (await soon()), { method, params }, options),
    attach(params, handlers) {
      if (live) return live.open(params, handlers)
      queueMicrotask(() => handlers.onEnd(away()))
      return { send: () => {}, sendBytes: () => {}, close: () => {} }
    },
    connect: async (to, signal) => openBytes(live ?? (await soon()), { kind: 'port', ...to }, signal),
    archive: async (target, signal) => openBytes(live ?? (await soon()), { kind: 'archive', ...target }, signal),
    async close() {
      closing.abort()
      live?.close()
      await running
      connected.promise.catch(() => {}) // waiting callers handle the error, if there are any
      connected.reject(away())
    },
  }
}

/** Connection refused or no socket. Only these errors mean that no host is listening. */
function isNotListening(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return code === 'ENOENT' || code === 'ECONNREFUSED'
}

async function within<T>(promise: Promise<T>, waitMs: number, late: () => AppError): Promise<T> {
  if (waitMs <= 0) throw late()
  const deadline = Promise.withResolvers<never>()
  const timer = setTimeout(() => deadline.reject(late()), waitMs)
  try {
    return await Promise.race([promise, deadline.promise])
  } finally {
    clearTimeout(timer)
  }
}

/** Resolves when the port in the sandbox has accepted the connection, or the archive is about to start. */
function openBytes(
  client: Pick<IpcClient, 'open'>,
  to: PortConnect | FolderArchive,
  signal: AbortSignal,
): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted()
    const giveUp = (): void => void bytes.duplex.destroy(signal.reason)
    const bytes = createByteStream(
      {
        send: (message) => stream.send(message),
        sendBytes: (piece) => stream.sendBytes(piece),
        isCongested: () => false, // each connection has its own window, and the host reads immediately
        end: () => stream.close(),
      },
      () => {
        signal.removeEventListener('abort', giveUp)
        resolve(bytes.duplex)
      },
    )
    signal.addEventListener('abort', giveUp, { once: true })
    bytes.duplex.on('error', reject) // after opening, the consumer handles errors too
    bytes.duplex.once('close', () => {
      signal.removeEventListener('abort', giveUp)
      reject(new Error('The connection closed before it was established.'))
    })
    const stream: IpcStream = client.open(to, {
      onMessage: bytes.onMessage,
      onBytes: bytes.onBytes,
      onEnd: bytes.onEnd,
    })
  })
}

/**
 * Checks the protocol version of the host.
 * @returns undefined if the host is compatible
 * @throws AppError `host/unavailable`
 */
async function findOtherHost(client: Pick<IpcClient, 'call'>): Promise<OtherHost | undefined> {
  const ask = async (method: string): Promise<unknown> =>
    (await client.call(method, {}, { signal: AbortSignal.timeout(otherHostTimeoutMs) })).result
  const { ipcVersion, version } = HostDescription.parse(await ask('describe'))
  if (ipcVersion === hostIpcVersion) return undefined
  const { machines: sandboxes } = SandboxList.parse(await ask('machine.list'))
  return { version, runningSandboxes: sandboxes.length }
}

/** Shuts down a host of another version. Its sandboxes stop and keep their files. */
async function endOtherHost(client: Pick<IpcClient, 'call'>): Promise<void> {
  await client.call('shutdown', {}, { signal: AbortSignal.timeout(otherHostTimeoutMs) })
}

function createOtherVersionError({ version, runningSandboxes }: OtherHost): AppError {
  const sandboxes = runningSandboxes === 1 ? '1 sandbox' : `${runningSandboxes} sandboxes`
  return new AppError('host/unavailable', `A sandbox host of Steward ${version} still runs ${sandboxes}.`, {
    detail: 'This Steward cannot use it. Choose “Stop all and continue” in Sandboxes; files are kept.',
  })
}

function createReplacingError({ version }: OtherHost): AppError {
  return new AppError('host/unavailable', `The sandbox host of Steward ${version} is being replaced.`)
}
