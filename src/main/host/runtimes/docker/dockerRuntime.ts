import { randomBytes } from 'node:crypto'
import type { Log } from '#platform/log.ts'
import { AppError } from '#shared/appError.ts'
import type { MachineSpec } from '#shared/contract/hostIpc.ts'
import { SandboxId } from '#shared/ids.ts'
import { activeMachines } from '../activeMachines.ts'
import type { SandboxRuntime, SnapshotPlace } from '../sandboxRuntime.ts'
import { baseImage } from './baseImage.ts'
import { containerSettings } from './containerSettings.ts'
import { containers as ownContainers } from './containers.ts'
import { dockerEngine, EngineRefusal } from './dockerEngine.ts'
import { dockerImages, imageReference, inspectImage, removeUntried } from './dockerImages.ts'
import type { DockerOptions } from './dockerOptions.ts'
import { dockerReport, engineAbilities } from './dockerReport.ts'
import { dockerSnapshots } from './dockerSnapshots.ts'
import { markCommands } from './markCommands.ts'
import { openOwnership } from './ownership.ts'
import { fittingContainer, remadeContainer, specOf } from './remadeContainer.ts'
import { type RunningContainer, startContainer } from './startContainer.ts'

export type DockerRuntimeOptions = {
  /** Whose sandboxes these are is kept here. */
  folder: string
  docker: DockerOptions
  log: Log
  now: () => number
}

const name = 'docker'
/** What an image is tried with. */
const smallest = { hostname: 'trial', vcpu: 1, memoryMb: 256, diskGb: 1, image: null, network: 'none' } as const
const tryMs = 20_000

/** Machines that are containers of any engine with Docker's API: Docker, Podman, OrbStack, Colima. */
export function dockerRuntime({ folder, docker, log, now }: DockerRuntimeOptions): SandboxRuntime {
  const engine = dockerEngine(docker)
  const base = baseImage(engine, docker, log)
  const own = openOwnership(folder)
  const { owner } = own
  const containers = ownContainers(engine, owner)
  const snapshots = dockerSnapshots(engine, owner, () => randomBytes(12).toString('hex'))
  const active = activeMachines<RunningContainer>()

  const checkNetwork = async ({ network }: MachineSpec): Promise<void> => {
    if (network === 'none') return
    const { networks, network_detail } = await engineAbilities(engine)
    if (networks.includes(network)) return
    throw new AppError('egress/unavailable', network_detail ?? `There is no network \`${network}\`.`)
  }

  const snapshotImage = async (place: SnapshotPlace): Promise<string> => {
    const reference = snapshots.reference(place)
    if (await inspectImage(engine, reference)) return reference
    throw new AppError('snapshot/not-found', `There is no snapshot ${place.snapshotId}.`)
  }

  const imageOf = async ({ image }: MachineSpec, signal: AbortSignal): Promise<string> => {
    if (image === null) return base.ready(signal)
    const reference = imageReference(owner, image)
    if (await inspectImage(engine, reference)) return reference
    throw new AppError('image/not-found', `There is no image \`${image}\`.`)
  }

  const made = async (spec: MachineSpec, image: string, signal: AbortSignal): Promise<string> => {
    try {
      return await containers.create(containerSettings({ owner, spec, image }), signal)
    } catch (failure) {
      if (!(failure instanceof EngineRefusal)) throw failure
      throw imageGone(image, failure)
    }
  }

  /** As a sandbox of it would: nothing else tells whether its programs run here. */
  const tryImage = async (image: string, signal: AbortSignal): Promise<void> => {
    const spec = { ...smallest, id: SandboxId.parse(randomBytes(16).toString('hex')), runtime: name }
    const container = await made(spec, image, signal)
    try {
      const machine = await startContainer({ spec, engine, containers, container, now, signal })
      const { exitCode } = await machine
        .exec({ command: 'true', timeoutMs: tryMs, signal })
        .finally(() => machine.stop())
      if (exitCode !== 0)
        throw new AppError('exec/failed', `Its bash ended with ${exitCode} instead of running a command.`)
    } finally {
      await containers.remove(container)
    }
  }

  const erase = async (id: SandboxId): Promise<void> => {
    for (const { container, sandboxId } of await containers.list()) {
      if (sandboxId === id) await containers.remove(container)
    }
    await snapshots.discardAll(id)
    await own.forget(id)
  }

  return {
    name,
    describe: () => dockerReport(name, engine, base),
    create: (spec, signal, from) =>
      active.begin(spec.id, async () => {
        signal.throwIfAborted()
        await checkNetwork(spec)
        const image = from ? await snapshotImage(from) : await imageOf(spec, signal)
        if (await containers.find(spec.id)) {
          throw new AppError('sandbox/start-failed', `The engine has a container of sandbox ${spec.id} already.`)
        }
        await own.note(spec.id)
        try {
          const container = await made(spec, image, signal)
          const machine = await startContainer({ spec, engine, containers, container, now, signal })
          await markCommands(machine, signal)
          return machine
        } catch (failure) {
          await erase(spec.id).catch((left: unknown) => log.warn('a container stays', { sandboxId: spec.id, left }))
          throw failure
        }
      }),
    start: (spec, signal) =>
      active.begin(spec.id, async () => {
        const found = await containers.find(spec.id)
        if (!found) throw new AppError('sandbox/not-found', `Sandbox ${spec.id} has no container.`)
        if (found.State.Running) await containers.end(found.Id, '')
        await checkNetwork(spec)
        const container = await fittingContainer({ owner, containers, snapshots, signal }, found, spec)
        return startContainer({ spec, engine, containers, container, now, signal })
      }),
    async remove(id) {
      // An engine that is away must not keep machines of others from being removed.
      if ((await own.noted()).includes(id)) await erase(id)
    },
    stored: own.noted,
    async snapshot(place, signal) {
      const found = await containers.find(place.sandboxId)
      if (!found) throw new AppError('sandbox/not-found', `Sandbox ${place.sandboxId} has no container.`)
      const impatient = active.running(place.sandboxId)?.patient()
      try {
        return await snapshots.keep(found.Id, snapshots.reference(place), place.sandboxId, signal)
      } finally {
        impatient?.()
      }
    },
    async restore(place, signal) {
      active.needNone(place.sandboxId)
      signal.throwIfAborted()
      const image = await snapshotImage(place)
      const found = await containers.find(place.sandboxId)
      const spec = found && specOf(found)
      if (!spec) throw new AppError('snapshot/failed', `Sandbox ${place.sandboxId} has no container.`)
      const before = await snapshots.bases(place.sandboxId)
      await remadeContainer({ owner, containers, signal }, found, { spec, image })
      for (const reference of before) await snapshots.discard(reference)
    },
    storedSnapshots: snapshots.list,
    removeSnapshot: (place) => snapshots.discard(snapshots.reference(place)),
    images: dockerImages({ engine, owner, runtime: name, tryImage }),
    async sweep() {
      try {
        for (const { container, sandboxId, running } of await containers.list()) {
          await own.note(sandboxId)
          if (!running) continue
          await containers.end(container, '')
          log.info('ended what an earlier host left', { sandboxId })
        }
        await snapshots.clean()
        await removeUntried(engine, owner)
      } catch (failure) {
        const noted = await own.noted()
        if (noted.length > 0) log.warn('containers of an earlier host may still run', { failure })
      }
    },
    async close() {},
  }
}

function imageGone(image: string, cause: unknown): AppError {
  return new AppError('image/not-found', `The image ${image} is gone.`, { cause })
}
