import { AppError } from '#shared/appError.ts'
import type { SandboxSpec } from '#shared/contract/hostIpc.ts'
import type { BaseEntry, HostBase } from './baseFiles.ts'
import { type CgroupController, createCgroups, type SandboxCgroups } from './cgroups.ts'
import type { Entrance } from './enter.ts'
import { openSandboxEntrance } from './entrance.ts'
import type { HostTools } from './hostTools.ts'
import type { IdRange } from './images/idRange.ts'
import type { ConnectArguments } from './network/connectNetwork.ts'
import type { Processors } from './processors.ts'
import type { SandboxFolder } from './sandboxFolder.ts'
import type { SandboxLayers } from './sandboxLayers.ts'
import { type SandboxSupervisor, startSupervisor } from './sandboxSupervisor.ts'
import { createSandboxView } from './sandboxView.ts'
import type { Spawner } from './spawner.ts'
import { type SandboxUser, toLaunchRequest, toStartRequest } from './startRequest.ts'

/** Properties that can change until a command runs in the sandbox. */
export type SandboxSize = Pick<SandboxSpec, 'hostname' | 'memoryMb' | 'vcpu'>

/** Sandbox that is started and connected, and in which no command has run. */
export type PreparedSandbox = {
  supervisor: SandboxSupervisor
  cgroups: SandboxCgroups
  entrance: Entrance
  /** Changes the host name and limits of the sandbox. @param entries files specific to the sandbox */
  become(size: SandboxSize, entries: readonly BaseEntry[]): Promise<void>
  /** Releases its resources after it has ended. */
  release(): Promise<void>
}

export type PrepareRequest = {
  size: SandboxSize
  /** Name of the cgroups. */
  name: string
  tools: HostTools
  spawner: Spawner
  processors: Processors
  controllers: readonly CgroupController[]
  folder: SandboxFolder
  user: SandboxUser | undefined
  /** Entries created in its `/` before it starts. */
  entries: readonly BaseEntry[]
  /** Absent for a sandbox with an image. */
  base: HostBase | undefined
  image: { root: string; range: IdRange } | undefined
  layers: SandboxLayers
  /** Absent for a sandbox without a network. */
  connection: ConnectArguments | undefined
  signal: AbortSignal
}

/** Maximum number of processes and threads in one sandbox. Sufficient for a large build, and harmless to the host. */
const maxProcesses = 1024

/** @throws AppError `sandbox/start-failed`, `egress/unavailable`; all of its processes have ended then */
export async function prepareSandbox(request: PrepareRequest): Promise<PreparedSandbox> {
  const { size, tools, spawner, folder, base, signal } = request
  const limitsMemory = request.controllers.some(({ enforces }) => enforces.includes('memory'))
  const cgroups = await createLimits(request)
  let chosen = request.processors.take(size.vcpu)
  const createView = ({ vcpu, memoryMb }: SandboxSize) =>
    createSandboxView({ vcpu, memoryMb, limitsMemory, folders: cgroups.folders })
  try {
    const start = toStartRequest({
      launch: toLaunchRequest({
        cgroups: cgroups.joinFiles,
        folder,
        user: request.user,
        image: request.image,
        entries: request.entries,
        command: [],
      }),
      bwrap: { program: tools.bwrap, arguments: { hostname: size.hostname, memoryMb: size.memoryMb, base } },
      folder,
      processes: maxProcesses,
      processors: chosen.numbers,
      view: await createView(size),
      layers: request.layers,
    })
    const supervisor = await startSupervisor(spawner, start, signal)
    await connect(supervisor, request)
    const entrance = openSandboxEntrance({ perl: tools.perl, spawner, folder: folder.path })
    let present = size
    return {
      supervisor,
      cgroups,
      entrance,
      async become(assignment, entries) {
        const { hostname, memoryMb, vcpu } = assignment
        if (memoryMb !== present.memoryMb || vcpu !== present.vcpu) {
          await cgroups.resize({ memoryMb, vcpu, processes: maxProcesses })
          chosen.giveBack()
          chosen = request.processors.take(vcpu)
        }
        await supervisor.become({
          hostname,
          memoryMb,
          processors: chosen.numbers,
          view: await createView(assignment),
          entries,
        })
        present = assignment
      },
      async release() {
        chosen.giveBack()
        entrance.close()
        await cgroups.remove()
      },
    }
  } catch (error) {
    chosen.giveBack()
    await cgroups.remove()
    throw error
  }
}

async function connect(supervisor: SandboxSupervisor, { connection, signal }: PrepareRequest): Promise<void> {
  if (!connection) return
  try {
    signal.throwIfAborted()
    await supervisor.connect(connection).catch((cause: unknown) => {
      signal.throwIfAborted()
      const reason = cause instanceof Error ? cause.message : String(cause)
      throw new AppError('egress/unavailable', `The sandbox network could not be connected: ${reason}.`, { cause })
    })
  } catch (error) {
    supervisor.end()
    await supervisor.ended
    throw error
  }
}

async function createLimits({ name, size, controllers }: PrepareRequest): Promise<SandboxCgroups> {
  const { memoryMb, vcpu } = size
  return createCgroups(controllers, name, { memoryMb, vcpu, processes: maxProcesses }).catch((cause: unknown) => {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new AppError('sandbox/start-failed', `The limits of the sandbox could not be set: ${reason}`, { cause })
  })
}
