import { randomBytes } from 'node:crypto'
import { chmod, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { type DataLock, findLockHolder, lockData } from '#platform/files/dataLock.ts'
import { parseJsonOrUndefined } from '#platform/parsing/parseJsonOrUndefined.ts'
import { isRunning } from '#platform/processes/processIdentity.ts'
import { AppError } from '#shared/appError.ts'
import { ImageName } from '#shared/contract/images.ts'
import { removeInRange } from './inRange.ts'

/** Metadata beside the files of an image. */
const ImageFile = z.object({
  version: z.literal(1),
  detail: z.string(),
  sizeBytes: z.number(),
  createdAtMs: z.int(),
  /** PATH of programs in sandboxes with this image, or null for the default. */
  path: z.string().nullable(),
})
export type ImageFile = z.infer<typeof ImageFile>

export type StoredImage = ImageFile & { name: ImageName; root: string }

/** Images stored in folders, each named after its image. Other processes may add and remove images concurrently. */
export type ImageStore = {
  list(): Promise<StoredImage[]>
  find(name: ImageName): Promise<StoredImage | undefined>
  /**
   * Calls `fill` with an empty folder for the files. The image appears atomically once `fill` has resolved.
   * @throws AppError `image/exists`, and errors of `fill`
   */
  add(name: ImageName, fill: (location: { root: string; scratch: string }) => Promise<ImageFile>): Promise<StoredImage>
  /** Succeeds if the image does not exist. */
  remove(name: ImageName): Promise<void>
  /** Whether any process is currently adding this image. */
  isAdding(name: ImageName): Promise<boolean>
  /** Removes incomplete files of processes that ended during an operation. */
  sweep(): Promise<void>
}

const probe = /^probe-image-(\d+)-/
/** Names of folders that are not images. Image names cannot begin with a dot. */
const unfinished = /^\.(?:adding|removing)-(.+)-[0-9a-f]{12}$/

/** @param folder accessible only to the user that runs Steward */
export function createImageStore(folder: string): ImageStore {
  const getRoot = (name: string): string => join(folder, name, 'root')
  const lockName = (name: string): string => `.${name}.lock`

  const find = async (name: ImageName): Promise<StoredImage | undefined> => {
    const text = await readFile(join(folder, name, 'image.json'), 'utf8').catch(() => undefined)
    const file = text === undefined ? undefined : ImageFile.safeParse(parseJsonOrUndefined(text)).data
    return file && { ...file, name, root: getRoot(name) }
  }

  const hidden = (action: 'adding' | 'removing', name: string): string =>
    join(folder, `.${action}-${name}-${randomBytes(6).toString('hex')}`)

  const lock = async (name: ImageName): Promise<DataLock> => {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    try {
      return await lockData({ folder, name: lockName(name), program: 'Another process' })
    } catch (cause) {
      if (!(cause instanceof AppError) || cause.code !== 'data/in-use') throw cause
      throw createBusyError(name, cause)
    }
  }

  return {
    async list() {
      const names = await readdir(folder).catch(() => [])
      const images = await Promise.all(names.flatMap((name) => ImageName.safeParse(name).data ?? []).map(find))
      return images.filter((image) => image !== undefined)
    },
    find,
    async add(name, fill) {
      const nameLock = await lock(name)
      const path = hidden('adding', name)
      try {
        if (await find(name)) throw new AppError('image/exists', `The image \`${name}\` already exists.`)
        await mkdir(join(path, 'root'), { recursive: true, mode: 0o755 })
        await chmod(join(path, 'root'), 0o755) // independent of the umask
        await mkdir(join(path, 'spare'))
        const file = await fill({ root: join(path, 'root'), scratch: join(path, 'spare') })
        await rm(join(path, 'spare'), { recursive: true, force: true })
        await writeFile(join(path, 'image.json'), JSON.stringify(file), { mode: 0o600 })
        await rename(path, join(folder, name))
        return { ...file, name, root: getRoot(name) }
      } catch (error) {
        await removeInRange(path)
        throw error
      } finally {
        await nameLock.release()
      }
    },
    async remove(name) {
      if (!(await find(name))) return
      const nameLock = await lock(name)
      try {
        const path = hidden('removing', name)
        await rename(join(folder, name), path)
        await removeInRange(path)
      } finally {
        await nameLock.release()
      }
    },
    isAdding: async (name) => (await findLockHolder(folder, lockName(name))) !== undefined,
    async sweep() {
      for (const entry of await readdir(folder).catch(() => [])) {
        const name = unfinished.exec(entry)?.[1]
        const probing = probe.exec(entry)?.[1]
        const useless = name !== undefined && !(await findLockHolder(folder, lockName(name)))
        if (useless || (probing && !isRunning(Number(probing)))) await removeInRange(join(folder, entry))
      }
    },
  }
}

function createBusyError(name: ImageName, cause: AppError): AppError {
  return new AppError('image/exists', `Another process is adding or removing the image \`${name}\`.`, { cause })
}
