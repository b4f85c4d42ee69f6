import type { Duplex } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import type { ContainerCreateOptions, ContainerInspectInfo } from 'dockerode'
import { AppError } from '#shared/appError.ts'
import { SandboxId } from '#shared/ids.ts'
import { type DockerEngine, EngineRefusal } from './dockerEngine.ts'
import { ownerLabel, sandboxLabel, toContainerName } from './ownership.ts'

/** Containers of this Steward instance on the engine. Others are never modified. */
export type Containers = {
  find(id: SandboxId): Promise<ContainerInspectInfo | undefined>
  list(): Promise<{ container: string; sandboxId: SandboxId; running: boolean }[]>
  /**
   * @returns the container id
   * @throws EngineRefusal 404 if the image does not exist, AppError `sandbox/start-failed`
   */
  create(settings: ContainerCreateOptions, signal: AbortSignal): Promise<string>
  /**
   * @returns stdin and stdout of its first process
   * @throws AppError `sandbox/start-failed`
   */
  start(container: string, signal: AbortSignal): Promise<Duplex>
  kill(container: string): Promise<void>
  /** Ensures that the container is not running. Never rejects. @returns a sentence with the reason why it ended */
  end(container: string, detail: string): Promise<string>
  /** Removes the container with its anonymous volumes, unless `kept`. Succeeds if it does not exist. */
  remove(container: string, volumes?: 'kept'): Promise<void>
  rename(container: string, name: string): Promise<void>
}

const startTimeoutMs = 120_000
const endMs = 20_000
const removeMs = 120_000

export function createContainers(engine: DockerEngine, owner: string): Containers {
  const inspect = async (container: string): Promise<ContainerInspectInfo | undefined> => {
    const call = engine.use('find a container', (docker, abortSignal) =>
      docker.getContainer(container).inspect({ abortSignal }),
    )
    return call.catch(ignoreStatus(404))
  }

  const kill = async (container: string): Promise<void> => {
    const call = engine.use('kill a container', (docker, abortSignal) =>
      docker.getContainer(container).kill({ signal: 'KILL', abortSignal }),
    )
    await call.catch(async (error: unknown) => {
      // Engines respond differently if a container is not running.
      if (!(error instanceof EngineRefusal) || (await inspect(container))?.State.Running) throw error
    })
  }

  return {
    async find(id) {
      // An interrupted recreation may have left the temporary name.
      const name = toContainerName(owner, id)
      const container = (await inspect(name)) ?? (await inspect(nextName(name)))
      return container?.Config.Labels[ownerLabel] === owner ? container : undefined
    },
    async list() {
      const filters = { label: [`${ownerLabel}=${owner}`] }
      const containers = await engine.use('list containers', (docker, abortSignal) =>
        docker.listContainers({ all: true, filters, abortSignal }),
      )
      return containers.flatMap(({ Id: container, Labels, State }) => {
        const sandboxId = SandboxId.safeParse(Labels[sandboxLabel]).data
        return sandboxId ? [{ container, sandboxId, running: State === 'running' || State === 'paused' }] : []
      })
    },
    async create(settings, signal) {
      const call = engine.use(
        'create a container',
        (docker, abortSignal) => docker.createContainer({ ...settings, abortSignal }),
        { signal, ms: startTimeoutMs },
      )
      const response = await call.catch((error: unknown) => {
        if (error instanceof EngineRefusal && error.status !== 404) throw startFailed(error)
        throw error
      })
      return response.id
    },
    async start(container, signal) {
      try {
        const options = { signal, ms: startTimeoutMs }
        await engine.use(
          'start a container',
          (docker, abortSignal) => docker.getContainer(container).start({ abortSignal }),
          options,
        )
        const attach = { stream: true, stdin: true, stdout: true, stderr: true, hijack: true }
        const stream = await engine.use(
          'attach to a container',
          // The signal would stay attached to the connection and end it later.
          (docker) => docker.getContainer(container).attach(attach),
          options,
        )
        return stream as Duplex // a hijacked connection is bidirectional
      } catch (error) {
        throw error instanceof EngineRefusal ? startFailed(error) : error
      }
    },
    kill,
    async end(container, detail) {
      try {
        let existing = await inspect(container)
        if (existing?.State.Running) {
          await kill(container)
          existing = await waitUntilStopped(() => inspect(container))
        }
        return toSentence(existing, detail)
      } catch (error) {
        return error instanceof Error ? error.message : String(error)
      }
    },
    async remove(container, volumes) {
      const call = engine.use(
        'remove a container',
        (docker, abortSignal) =>
          docker.getContainer(container).remove({ force: true, v: volumes !== 'kept', abortSignal }),
        { ms: removeMs },
      )
      await call.catch(ignoreStatus(404))
    },
    async rename(container, name) {
      await engine.use('rename a container', (docker, abortSignal) =>
        docker.getContainer(container).rename({ name, abortSignal }),
      )
    },
  }
}

/** Returns the name of a container that is about to replace another. */
export const nextName = (name: string): string => `${name}-next`

/** For `catch`: maps a refusal with this status to undefined. */
export function ignoreStatus(status: number): (error: unknown) => undefined {
  return (error) => {
    if (error instanceof EngineRefusal && error.status === status) return undefined
    throw error
  }
}

async function waitUntilStopped(
  inspect: () => Promise<ContainerInspectInfo | undefined>,
): Promise<ContainerInspectInfo | undefined> {
  const end = performance.now() + endMs
  for (let waitMs = 10; ; waitMs = Math.min(waitMs * 2, 500)) {
    const container = await inspect()
    if (!container?.State.Running || performance.now() > end) return container
    await pause(waitMs)
  }
}

function toSentence(container: ContainerInspectInfo | undefined, detail: string): string {
  if (!container) return 'The container was removed.'
  const because = detail === '' ? '' : ` (${detail.replace(/\s+/g, ' ')})`
  if (container.State.OOMKilled) return `The sandbox ran out of memory${because}.`
  if (container.State.ExitCode === 137) return `The container was killed${because}.`
  return `The container exited with code ${container.State.ExitCode}${because}.`
}

const noPerl = /perl/i
const needsPerl = 'The image has no perl, which sandboxes require. Images of Debian and Ubuntu have it.'

export function startFailed(refusal: EngineRefusal): AppError {
  const message = noPerl.test(refusal.message)
    ? needsPerl
    : `The engine did not start the container: ${refusal.message}`
  return new AppError('sandbox/start-failed', message, { cause: refusal })
}
