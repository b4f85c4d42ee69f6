import { randomBytes } from 'node:crypto'
import { posix } from 'node:path'
import type { Log } from '#platform/logging/log.ts'
import { AppError } from '#shared/appError.ts'
import type { SandboxSpec } from '#shared/contract/hostIpc.ts'
import { SandboxId } from '#shared/ids.ts'
import { shellIntegrationPath, shellIntegrationScript } from '../inside/shellIntegrationScript.ts'
import type { SandboxInstance, SandboxRuntime, SnapshotRef } from '../sandboxRuntime.ts'
import { createBaseImage } from './baseImage.ts'
import { buildContainerSettings } from './containerSettings.ts'
import { createContainers } from './containers.ts'
import { createDockerEngine, type DockerEngine, EngineRefusal } from './dockerEngine.ts'
import { createDockerImages, inspectImage, removeUntried, toImageReference } from './dockerImages.ts'
import type { DockerOptions } from './dockerOptions.ts'
import { createEngineAbilities, describeDocker } from './dockerReport.ts'
import { createDockerSnapshots } from './dockerSnapshots.ts'
import { openOwnership } from './ownership.ts'
import { findMatchingContainer, readSpec, recreateContainer } from './remadeContainer.ts'
import { type RunningContainer, startContainer } from './startContainer.ts'

const writeMarksTimeoutMs = 20_000
const appendMarksScript = `mkdir -p ${posix.dirname(shellIntegrationPath)} && printf %s "$MARKS" > ${shellIntegrationPath} && echo "$LINE" >> ~/.bashrc`

export type DockerRuntimeOptions = {
  /** Folder that stores the owner name of these sandboxes. */
  folder: string
  docker: DockerOptions
  log: Log
  now: () => number
}

const name = 'docker'
/** Size of the sandbox that tests an image. */
const testSandboxSize = { hostname: 'trial', vcpu: 1, memoryMb: 256, diskGb: 1, image: null, network: 'none' } as const
const tryTimeoutMs = 20_000

/** Creates a runtime for sandboxes in containers of an engine with Docker's API: Docker, Podman, OrbStack, Colima. */
export function createDockerRuntime(options: DockerRuntimeOptions): SandboxRuntime<RunningContainer> {
  const context = createContext(options)
  const { engine, base, ownership, containers, snapshots } = context
  const { owner } = ownership

  return {
    name,
    describe: () => describeDocker(name, engine, base),
    async create(spec, signal, from) {
      signal.throwIfAborted()
      await assertNetwork(engine, spec)
      const image = from ? await findSnapshotImage(context, from) : await findImage(context, spec, signal)
      return createSandbox(context, spec, { image, signal })
    },
    async start(spec, signal) {
      const existing = await containers.find(spec.id)
      if (!existing) throw new AppError('sandbox/not-found', `Sandbox ${spec.id} has no container.`)
      if (existing.State.Running) await containers.end(existing.Id, '')
      await assertNetwork(engine, spec)
      const container = await findMatchingContainer({ owner, containers, snapshots, signal }, existing, spec)
      return startContainer({ spec, engine, containers, container, now: context.now, signal })
    },
    async remove(id) {
      // An unavailable engine must not block the removal of sandboxes of other runtimes.
      if ((await ownership.listRecorded()).includes(id)) await eraseSandbox(context, id)
    },
    listStored: ownership.listRecorded,
    async snapshot(snapshot, signal, running) {
      const container = await containers.find(snapshot.sandboxId)
      if (!container) throw new AppError('sandbox/not-found', `Sandbox ${snapshot.sandboxId} has no container.`)
      const resumeTimeout = running?.suspendTimeout()
      try {
        return await snapshots.keep(container.Id, snapshots.reference(snapshot), snapshot.sandboxId, signal)
      } finally {
        resumeTimeout?.()
      }
    },
    async restore(snapshot, signal) {
      signal.throwIfAborted()
      const image = await findSnapshotImage(context, snapshot)
      const container = await containers.find(snapshot.sandboxId)
      const spec = container && readSpec(container)
      if (!spec) throw new AppError('snapshot/failed', `Sandbox ${snapshot.sandboxId} has no container.`)
      const before = await snapshots.bases(snapshot.sandboxId)
      await recreateContainer({ owner, containers, signal }, container, { spec, image })
      for (const reference of before) await snapshots.discard(reference)
    },
    listSnapshots: snapshots.list,
    removeSnapshot: (snapshot) => snapshots.discard(snapshots.reference(snapshot)),
    images: createDockerImages({
      engine,
      owner,
      runtime: name,
      tryImage: (image, signal) => tryImage(context, image, signal),
    }),
    sweep: () => sweepContainers(context),
    async close() {},
  }
}

type DockerContext = ReturnType<typeof createContext>

function createContext({ folder, docker, log, now }: DockerRuntimeOptions) {
  const engine = createDockerEngine(docker)
  const base = createBaseImage(engine, docker, log)
  const ownership = openOwnership(folder)
  const containers = createContainers(engine, ownership.owner)
  const snapshots = createDockerSnapshots(engine, ownership.owner, () => randomBytes(12).toString('hex'))
  return { engine, base, ownership, containers, snapshots, log, now }
}

/** @throws AppError `egress/unavailable` */
async function assertNetwork(engine: DockerEngine, { network }: SandboxSpec): Promise<void> {
  if (network === 'none') return
  const { networks, network_detail } = await createEngineAbilities(engine)
  if (networks.includes(network)) return
  throw new AppError('egress/unavailable', network_detail ?? `There is no network \`${network}\`.`)
}

/** @throws AppError `snapshot/not-found` */
async function findSnapshotImage({ engine, snapshots }: DockerContext, snapshot: SnapshotRef): Promise<string> {
  const reference = snapshots.reference(snapshot)
  if (await inspectImage(engine, reference)) return reference
  throw new AppError('snapshot/not-found', `There is no snapshot ${snapshot.snapshotId}.`)
}

/** @throws AppError `image/not-found` */
async function findImage(
  { engine, base, ownership }: DockerContext,
  { image }: SandboxSpec,
  signal: AbortSignal,
): Promise<string> {
  if (image === null) return base.ready(signal)
  const reference = toImageReference(ownership.owner, image)
  if (await inspectImage(engine, reference)) return reference
  throw new AppError('image/not-found', `There is no image \`${image}\`.`)
}

type ImageUse = { image: string; signal: AbortSignal }

async function createSandbox(context: DockerContext, spec: SandboxSpec, use: ImageUse): Promise<RunningContainer> {
  const { engine, containers, ownership, now, log } = context
  const { signal } = use
  if (await containers.find(spec.id)) {
    throw new AppError('sandbox/start-failed', `The engine already has a container for sandbox ${spec.id}.`)
  }
  await ownership.note(spec.id)
  try {
    const container = await createContainer(context, spec, use)
    const instance = await startContainer({ spec, engine, containers, container, now, signal })
    await installShellIntegration(instance, signal)
    return instance
  } catch (error) {
    await eraseSandbox(context, spec.id).catch((cause: unknown) =>
      log.warn('failed to remove a container', { sandboxId: spec.id, left: cause }),
    )
    throw error
  }
}

async function createContainer(
  { containers, ownership }: DockerContext,
  spec: SandboxSpec,
  { image, signal }: ImageUse,
): Promise<string> {
  try {
    return await containers.create(buildContainerSettings({ owner: ownership.owner, spec, image }), signal)
  } catch (error) {
    if (!(error instanceof EngineRefusal)) throw error
    throw createImageMissingError(image, error)
  }
}

/** Starts a sandbox from the image, because no other check shows whether its programs run on this computer. */
async function tryImage(context: DockerContext, image: string, signal: AbortSignal): Promise<void> {
  const { engine, containers, now } = context
  const spec = { ...testSandboxSize, id: SandboxId.parse(randomBytes(16).toString('hex')), runtime: name }
  const container = await createContainer(context, spec, { image, signal })
  try {
    const instance = await startContainer({ spec, engine, containers, container, now, signal })
    const { exitCode } = await instance
      .exec({ command: 'true', timeoutMs: tryTimeoutMs, signal })
      .finally(() => instance.stop())
    if (exitCode !== 0)
      throw new AppError('exec/failed', `The bash of the image exited with ${exitCode} instead of running a command.`)
  } finally {
    await containers.remove(container)
  }
}

async function eraseSandbox({ containers, snapshots, ownership }: DockerContext, id: SandboxId): Promise<void> {
  for (const { container, sandboxId } of await containers.list()) {
    if (sandboxId === id) await containers.remove(container)
  }
  await snapshots.discardAll(id)
  await ownership.forget(id)
}

async function sweepContainers({ engine, containers, snapshots, ownership, log }: DockerContext): Promise<void> {
  try {
    for (const { container, sandboxId, running } of await containers.list()) {
      await ownership.note(sandboxId)
      if (!running) continue
      await containers.end(container, '')
      log.info('ended containers of a previous host', { sandboxId })
    }
    await snapshots.clean()
    await removeUntried(engine, ownership.owner)
  } catch (error) {
    const recorded = await ownership.listRecorded()
    if (recorded.length > 0) log.warn('containers of a previous host may still be running', { error })
  }
}

function createImageMissingError(image: string, cause: unknown): AppError {
  return new AppError('image/not-found', `The image ${image} no longer exists.`, { cause })
}

/** Installs shell integration in a new container. Skipped if the file system is read-only. */
async function installShellIntegration(instance: Pick<SandboxInstance, 'exec'>, signal: AbortSignal): Promise<void> {
  const env = { MARKS: shellIntegrationScript, LINE: `[ ! -r ${shellIntegrationPath} ] || . ${shellIntegrationPath}` }
  await instance.exec({
    command: `[ -e ${shellIntegrationPath} ] || { ${appendMarksScript}; }`,
    env,
    timeoutMs: writeMarksTimeoutMs,
    signal,
  })
}
