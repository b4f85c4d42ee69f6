import type { Log } from '#platform/logging/log.ts'
import { AppError } from '#shared/appError.ts'
import type { HostImage, HostParams } from '#shared/contract/hostIpc.ts'
import type { ImageName } from '#shared/contract/images.ts'
import type { SandboxRuntime } from '../runtimes/sandboxRuntime.ts'

/** Images of all runtimes, including pending and failed additions. Names are unique across runtimes. */
export type Images = {
  list(): Promise<HostImage[]>
  /** Starts adding an image. @throws AppError `runtime/unknown`, `image/exists` */
  add(request: HostParams<'image.add'>): Promise<HostImage>
  /** Cancels a pending addition, or removes the image. @throws AppError `image/not-found` */
  remove(name: ImageName): Promise<void>
  close(): Promise<void>
}

type ImagesOptions = {
  runtimes: readonly SandboxRuntime[]
  onChanged: (image: HostImage) => void
  onRemoved: (name: ImageName) => void
  now: () => number
  log: Log
}

type Job = { image: HostImage; calledOff: AbortController; done: Promise<void> }

export function createImages({ runtimes, onChanged, onRemoved, now, log }: ImagesOptions): Images {
  const jobs = new Map<ImageName, Job>()

  const ready = async (): Promise<HostImage[]> => (await Promise.all(runtimes.map((it) => it.images.list()))).flat()

  const begin = (runtime: SandboxRuntime, { name, source }: HostParams<'image.add'>): Job => {
    const calledOff = new AbortController()
    const image: HostImage = {
      name,
      runtime: runtime.name,
      status: 'adding',
      detail: 'Waiting to be added.',
      progress: null,
      sizeBytes: null,
      createdAtMs: now(),
    }
    const job: Job = { image, calledOff, done: Promise.resolve() }
    const change = (changes: Partial<HostImage>): void => {
      job.image = { ...job.image, ...changes }
      if (jobs.get(name) === job) onChanged(job.image)
    }
    const onProgress = (detail: string, progress: number | null): void => change({ detail, progress })
    job.done = runtime.images.add({ name, source, onProgress }, calledOff.signal).then(
      (added) => {
        jobs.delete(name)
        onChanged(added)
      },
      (error: unknown) => {
        if (calledOff.signal.aborted) return
        log.warn('failed to add an image', { name, error })
        const reason = error instanceof AppError ? error.message : 'The image could not be added. See the log.'
        change({ status: 'failed', detail: reason, progress: null })
      },
    )
    return job
  }

  return {
    async list() {
      const added = await ready()
      const names = new Set(added.map(({ name }) => name))
      return [...added, ...[...jobs.values()].map(({ image }) => image).filter(({ name }) => !names.has(name))]
    },
    async add(request) {
      const { name } = request
      const runtime = runtimes.find((it) => it.name === request.runtime)
      if (!runtime) throw new AppError('runtime/unknown', `Unknown runtime ${JSON.stringify(request.runtime)}.`)
      const nameExists = (await ready()).some((image) => image.name === name)
      if (nameExists || jobs.get(name)?.image.status === 'adding') {
        throw new AppError('image/exists', `The image \`${name}\` already exists.`)
      }
      const job = begin(runtime, request)
      jobs.set(name, job)
      onChanged(job.image)
      return job.image
    },
    async remove(name) {
      const job = jobs.get(name)
      const existing = (await ready()).filter((image) => image.name === name)
      if (!job && existing.length === 0) throw new AppError('image/not-found', `There is no image \`${name}\`.`)
      job?.calledOff.abort()
      await job?.done
      jobs.delete(name)
      // Calls only runtimes that have the image, because an unavailable runtime must not block the removal.
      for (const { runtime } of existing) await runtimes.find((it) => it.name === runtime)?.images.remove(name)
      onRemoved(name)
    },
    async close() {
      for (const job of jobs.values()) job.calledOff.abort()
      await Promise.all([...jobs.values()].map(({ done }) => done))
    },
  }
}
