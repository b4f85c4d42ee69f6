import { AppError } from '#shared/appError.ts'
import type { HostImage } from '#shared/contract/hostIpc.ts'
import type { addImage, ImageName } from '#shared/contract/images.ts'
import type { Parsed } from '#shared/contract/route.ts'
import type { RuntimeReport } from '#shared/contract/sandboxes.ts'
import type { HostCall } from '../host/hostCalls.ts'
import type { RuntimeReports } from '../host/runtimeReports.ts'

/** Images of sandboxes. All accounts share them; only the owner can change them. */
export type Images = {
  list(): Promise<HostImage[]>
  /** Starts adding an image. @throws AppError `image/exists`, `image/source`, `runtime/…` */
  add(image: Parsed<typeof addImage>['body']): Promise<HostImage>
  /** @throws AppError `image/not-found`, `image/in-use` */
  remove(name: ImageName): Promise<void>
  /** Returns a usable image. @throws AppError `image/not-found`, `image/not-ready` */
  ready(name: ImageName): Promise<HostImage>
  /**
   * Checks the image immediately before a sandbox is stored.
   * @throws AppError `image/not-ready` if the image is being removed
   */
  requireStored(name: ImageName): void
}

/** An image may contain hundreds of thousands of files. */
const removeDeadlineMs = 300_000

export function createImages(options: {
  call: HostCall
  runtimes: RuntimeReports
  countSandboxes: (name: ImageName) => Promise<number>
}): Images {
  const { call, runtimes, countSandboxes } = options
  const removing = new Set<ImageName>()
  const assertUnused = async (name: ImageName): Promise<void> => {
    const sandboxCount = await countSandboxes(name)
    if (sandboxCount === 0) return
    const sandboxes = sandboxCount === 1 ? 'One sandbox was' : `${sandboxCount} sandboxes were`
    throw new AppError('image/in-use', `${sandboxes} created from the image \`${name}\`.`)
  }
  const requireStored = (name: ImageName): void => {
    if (removing.has(name)) throw new AppError('image/not-ready', `The image \`${name}\` is being removed.`)
  }
  const list = async (): Promise<HostImage[]> => (await call('image.list', {})).result.images

  return {
    list,
    async add({ name, runtime: requestedRuntime, source }) {
      const able = ({ image_sources }: RuntimeReport): boolean => image_sources.includes(source.kind)
      const candidates =
        requestedRuntime === undefined ? await runtimes.list() : [await runtimes.choose(requestedRuntime)]
      const runtime = candidates.find((report) => report.available && able(report))
      if (!runtime) throw createNoRuntimeError(source.kind, candidates)
      return (await call('image.add', { runtime: runtime.name, name, source })).result
    },
    async remove(name) {
      requireStored(name)
      removing.add(name) // before the count, see the creation of a sandbox
      try {
        await assertUnused(name)
        await call('image.remove', { name }, { deadlineMs: removeDeadlineMs })
      } finally {
        removing.delete(name)
      }
    },
    async ready(name) {
      const image = (await list()).find((it) => it.name === name)
      if (!image) throw new AppError('image/not-found', `There is no image \`${name}\`.`)
      if (image.status === 'adding')
        throw new AppError('image/not-ready', `The image \`${name}\` is still being added.`)
      if (image.status === 'failed') {
        throw new AppError('image/not-found', `The image \`${name}\` could not be added: ${image.detail}`)
      }
      requireStored(name)
      return image
    },
    requireStored,
  }
}

function createNoRuntimeError(kind: string, candidates: readonly RuntimeReport[]): AppError {
  const reasons = candidates.map(({ name, detail, available, image_detail }) => {
    const reason = available ? image_detail : detail
    return reason ? `${name}: ${reason}` : `${name} does not support this source.`
  })
  return new AppError('image/source', `No runtime of this service creates images from \`${kind}\`.`, {
    detail: reasons.join(' '),
  })
}
