import { AppError } from '#shared/appError.ts'
import { type SandboxId, SnapshotId } from '#shared/ids.ts'
import type { SnapshotRef } from '../sandboxRuntime.ts'
import { type DockerEngine, EngineRefusal } from './dockerEngine.ts'
import { inspectImage, removeReference } from './dockerImages.ts'
import { ownerLabel, sandboxLabel, toRepository } from './ownership.ts'

/** Images with the files of containers: snapshots, and bases of recreated containers. */
export type DockerSnapshots = {
  reference(snapshot: SnapshotRef): string
  list(id: SandboxId): Promise<SnapshotId[]>
  /**
   * @returns the size on top of its base, in bytes
   * @throws AppError `snapshot/failed`
   */
  keep(container: string, reference: string, sandboxId: SandboxId, signal: AbortSignal): Promise<number>
  /** Removes the snapshot, or marks it for `clean` while it is in use. */
  discard(reference: string): Promise<void>
  discardAll(id: SandboxId): Promise<void>
  /** Removes discarded snapshots that are no longer in use. */
  clean(): Promise<void>
  /** Returns an unused name for the image from which a sandbox's container is recreated. */
  freshBase(id: SandboxId): string
  bases(id: SandboxId): Promise<string[]>
}

const keepMs = 600_000

export function createDockerSnapshots(engine: DockerEngine, owner: string, newId: () => string): DockerSnapshots {
  const root = toRepository(owner)
  const snapshots = (id: SandboxId): string => `${root}/snapshot/${id}`
  const bases = (id: SandboxId): string => `${root}/base/${id}`
  const garbage = `${root}/discarded`

  const listTags = async (repo: string): Promise<string[]> => {
    const filters = { reference: [`${repo}:*`] }
    const images = await engine.use('list images', (docker, abortSignal) => docker.listImages({ filters, abortSignal }))
    return images.flatMap(({ RepoTags }) => (RepoTags ?? []).filter((it) => it.startsWith(`${repo}:`)))
  }

  const clean = async (): Promise<void> => {
    for (const reference of await listTags(garbage)) {
      await removeReference(engine, reference).catch((error: unknown) => {
        if (!(error instanceof EngineRefusal)) throw error // still in use
      })
    }
  }

  /**
   * Renames the image before removing it, because an engine refuses to remove the last name of an image in use by a
   * container.
   */
  const discard = async (reference: string): Promise<void> => {
    if (!(await inspectImage(engine, reference))) return
    const tag = newId()
    await engine.use('name an image', (docker, abortSignal) =>
      docker.getImage(reference).tag({ repo: garbage, tag, abortSignal }),
    )
    await removeReference(engine, reference)
    await clean()
  }

  return {
    reference: ({ sandboxId, snapshotId }) => `${snapshots(sandboxId)}:${snapshotId}`,
    async list(id) {
      const references = await listTags(snapshots(id))
      return references.flatMap(
        (reference) => SnapshotId.safeParse(reference.slice(reference.lastIndexOf(':') + 1)).data ?? [],
      )
    },
    async keep(container, reference, sandboxId, signal) {
      const colon = reference.lastIndexOf(':')
      const query = { repo: reference.slice(0, colon), tag: reference.slice(colon + 1), pause: true }
      const changes = [`LABEL ${ownerLabel}=${owner}`, `LABEL ${sandboxLabel}=${sandboxId}`]
      try {
        // Podman rejects an empty body.
        await engine.use(
          'commit a container',
          (docker, abortSignal) =>
            docker
              .getContainer(container)
              .commit({ ...{ _query: { ...query, container, changes }, _body: { Tty: false } }, abortSignal }),
          { signal, ms: keepMs },
        )
        const layers = await engine.use('measure an image', (docker) => docker.getImage(reference).history())
        const [top] = layers as { Size?: number }[] // as returned by the API, newest first
        return top?.Size ?? 0
      } catch (error) {
        await discard(reference).catch(() => {}) // a conflict is reported below
        if (!(error instanceof EngineRefusal)) throw error
        throw createNotStoredError(error)
      }
    },
    discard,
    async discardAll(id) {
      for (const reference of [...(await listTags(snapshots(id))), ...(await listTags(bases(id)))])
        await discard(reference)
    },
    clean,
    freshBase: (id) => `${bases(id)}:${newId()}`,
    bases: (id) => listTags(bases(id)),
  }
}

function createNotStoredError(refusal: EngineRefusal): AppError {
  const code = /no space left/i.test(refusal.message) ? 'file/no-space' : 'snapshot/failed'
  return new AppError(code, `The engine could not save the snapshot: ${refusal.message}`, { cause: refusal })
}
