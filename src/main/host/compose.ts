import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { listenIpc } from '#platform/ipc/ipcServer.ts'
import type { Log } from '#platform/logging/log.ts'
import { getHostFolder } from '#platform/net/hostSocket.ts'
import { releaseSocket } from '#platform/net/privateSocket.ts'
import { networksClosedToSandboxes } from '#platform/net/specialAddresses.ts'
import { getProgramFile } from '#platform/program/programFile.ts'
import { Scope } from '#platform/program/scope.ts'
import { AppError } from '#shared/appError.ts'
import type { HostEvent } from '#shared/contract/hostIpc.ts'
import { createImages } from './images/images.ts'
import { createArchiveHandler } from './ipc/archiveHandler.ts'
import { createAttachHandler } from './ipc/attachHandler.ts'
import { claimAddress, removePidFile, writePidFile } from './ipc/hostAddress.ts'
import { createHostHandlers } from './ipc/hostHandlers.ts'
import { createIdleWatch } from './ipc/idleWatch.ts'
import { createPortHandler } from './ipc/portHandler.ts'
import { createStreamHandler } from './ipc/streamHandler.ts'
import { createBubblewrapRuntime } from './runtimes/bubblewrap/bubblewrapRuntime.ts'
import type { DockerOptions } from './runtimes/docker/dockerOptions.ts'
import { createDockerRuntime } from './runtimes/docker/dockerRuntime.ts'
import type { SandboxRuntime } from './runtimes/sandboxRuntime.ts'
import { createSandboxes } from './sandboxes/sandboxes.ts'
import { createSandboxLabels } from './sandboxes/sandboxLabels.ts'
import { createWatchedCommands } from './sandboxes/watchedCommands.ts'
import { openTerminals } from './terminals/terminals.ts'
import { createScreenPool } from './terminals/worker/screenPool.ts'

export type HostOptions = {
  dataDir: string
  runtimes: readonly SandboxRuntime[]
  version: string
  pid: number
  now: () => number
  log: Log
  /** Idle time without sandboxes and connections after which the host exits, in milliseconds. */
  idleExitMs?: number
  /** URL of the worker script. Defaults to the folder of the built programs. */
  screenWorkerUrl?: URL
  /** Time without an acknowledgment after which a viewer is dropped, in milliseconds. For tests. */
  stallMs?: number
}

export type RunningHost = {
  socketPath: string
  /**
   * Resolves with a reason when the host should exit, because of a shutdown request or idleness. The caller then calls
   * `close`.
   */
  readonly wantsToEnd: Promise<string>
  close(): Promise<void>
}

const screenWorkers = 2

/** @throws AppError `config/invalid` for an unknown runtime name */
export function listRuntimes(
  names: readonly string[],
  options: Pick<HostOptions, 'dataDir' | 'log' | 'now'> & {
    docker: DockerOptions
    warmPoolSize: number
    cpuWeight: number
  },
): SandboxRuntime[] {
  const { dataDir, docker, warmPoolSize, cpuWeight, log, now } = options
  const folder = join(getHostFolder(dataDir), 'machines')
  const imagesFolder = join(getHostFolder(dataDir), 'images')
  return names.map((name) => {
    if (name === 'bubblewrap') {
      const closedNetworks = networksClosedToSandboxes
      return createBubblewrapRuntime({
        folder,
        imagesFolder,
        warmPoolSize: warmPoolSize,
        cpuWeight,
        closedNetworks,
        log: log.forArea(name),
        now,
      })
    }
    if (name === 'docker') {
      return createDockerRuntime({
        folder: join(getHostFolder(dataDir), 'docker'),
        docker,
        log: log.forArea(name),
        now,
      })
    }
    throw new AppError('config/invalid', `Unknown runtime ${JSON.stringify(name)}.`)
  })
}

export async function startHost(options: HostOptions): Promise<RunningHost> {
  const { dataDir, runtimes, now, log } = options
  const scope = new Scope()
  const ending = Promise.withResolvers<string>()
  try {
    const socketPath = scope.own(await claimAddress(dataDir), releaseSocket)
    for (const runtime of runtimes) scope.own(runtime, (it) => it.close())
    for (const runtime of runtimes) await runtime.sweep()
    let broadcast = (_event: HostEvent): void => {}
    const pool = scope.own(
      createScreenPool({
        workerUrl: options.screenWorkerUrl ?? pathToFileURL(getProgramFile('host/terminals/worker/screenWorker')),
        workers: screenWorkers,
        log: log.forArea('screens'),
      }),
      (it) => it.close(),
    )
    const terminals = scope.own(
      await openTerminals({
        folder: join(getHostFolder(dataDir), 'terminals'),
        pool,
        onEvent: (event) => broadcast(event),
        ...(options.stallMs !== undefined && { stallMs: options.stallMs }),
        now,
        log: log.forArea('terminals'),
      }),
      (it) => it.close(),
    )
    const idle = scope.own(
      createIdleWatch({ ms: options.idleExitMs ?? 60_000, onIdle: () => ending.resolve('nothing to do') }),
      (it) => it.close(),
    )
    const labels = createSandboxLabels(join(getHostFolder(dataDir), 'labels'))
    const running = scope.own(
      createSandboxes({
        runtimes,
        labels,
        onStopping: (id, stopping) => terminals.machineEnding(id, stopping),
        onStopped: (id) => terminals.machineEnded(id),
        onEnded: (sandboxId, reason) => broadcast({ type: 'machine.ended', sandboxId, reason }),
        onDeleted: (id) => terminals.removeAll(id),
        onCount: (count) => idle.machines(count),
        log: log.forArea('machines'),
      }),
      (it) => it.close(),
    )
    const images = scope.own(
      createImages({
        runtimes,
        onChanged: (image) => broadcast({ type: 'image.changed', image }),
        onRemoved: (name) => broadcast({ type: 'image.removed', name }),
        now,
        log: log.forArea('images'),
      }),
      (it) => it.close(),
    )
    const server = scope.own(
      await listenIpc({
        path: socketPath,
        handlers: createHostHandlers({
          commands: createWatchedCommands(),
          machines: running,
          labels,
          terminals,
          runtimes,
          images,
          version: options.version,
          pid: options.pid,
          shutDown: () => ending.resolve('requested by the service'),
        }),
        open: createStreamHandler({
          attach: createAttachHandler(terminals),
          connect: createPortHandler(running),
          archive: createArchiveHandler(running),
        }),
        onConnections: (count) => idle.connections(count),
        log: log.forArea('ipc'),
      }),
      (it) => it.close(),
    )
    broadcast = (event) => server.broadcast(event)
    await scope.own(writePidFile(dataDir, options.pid), () => removePidFile(dataDir))
    log.info('sandbox host ready', { socketPath, runtimes: runtimes.map(({ name }) => name) })
    return { socketPath, wantsToEnd: ending.promise, close: () => scope.close() }
  } catch (error) {
    await scope.close()
    throw error
  }
}
