import { createWriteStream } from 'node:fs'
import { stat, statfs } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { AppError } from '#shared/appError.ts'
import type { HostImage } from '#shared/contract/hostIpc.ts'
import type { ImageSource } from '#shared/contract/images.ts'
import type { AddImage, RuntimeImages } from '../../sandboxRuntime.ts'
import { findExecutable } from '../hostTools.ts'
import { type ImageArchive, readArchive } from './archiveFile.ts'
import { buildDebianSystem } from './debianSystem.ts'
import { detectCompression, openDecompressed } from './decompressed.ts'
import { findIdRange } from './idRange.ts'
import type { ImageFile, ImageStore, StoredImage } from './imageStore.ts'
import { createLayerWriter, type LayerReport, type LayerWriter } from './layerWriter.ts'
import { readDistribution, readDistributionName } from './readDistribution.ts'
import { type LayerLimits, toReadError, writeTar } from './tarLayer.ts'

type ImagesOptions = {
  runtime: string
  store: ImageStore
  /** Returns the reason why sandboxes with images are unavailable, or undefined. */
  obstacle: () => Promise<string | undefined>
  perl: () => Promise<string>
  now: () => number
  /** Bytes to leave free on the disk. For tests. */
  reservedBytes?: number
}

type FilledSource = Exclude<ImageSource, { kind: 'registry' }>

const addMs = 30 * 60_000
const maxFiles = 3_000_000
const reserve = 512 * 1024 * 1024

export function createBubblewrapImages(options: ImagesOptions): RuntimeImages {
  const { runtime, store, now } = options

  const toHostImage = ({ name, detail, sizeBytes, createdAtMs }: StoredImage): HostImage => ({
    ...{ name, runtime, status: 'ready', detail, progress: null },
    ...{ sizeBytes, createdAtMs },
  })

  const fill = async (
    { source, onProgress }: { source: FilledSource; onProgress: AddImage['onProgress'] },
    location: { root: string; scratch: string },
    signal: AbortSignal,
  ): Promise<ImageFile> => {
    const range = await findIdRange()
    if (typeof range === 'string') throw new AppError('image/failed', range)
    const writer = createLayerWriter({ perl: await options.perl(), range, folder: location.root })
    const abort = (): void => void writer.close()
    signal.addEventListener('abort', abort, { once: true })
    try {
      const remainingBytes = await measureSpace(location.root, options.reservedBytes ?? reserve)
      const limits: LayerLimits = { remainingBytes, remainingEntries: maxFiles }
      const filling = { writer, limits, scratch: location.scratch, onProgress, signal }
      const content =
        source.kind === 'system' ? await fillFromSystem(source, filling) : await fillFromArchive(source, filling)
      const { bytes, bash } = await writer.end()
      signal.throwIfAborted()
      assertBash(bash)
      return { version: 1, ...content, sizeBytes: bytes, createdAtMs: now() }
    } catch (error) {
      signal.throwIfAborted()
      throw error
    } finally {
      signal.removeEventListener('abort', abort)
      await writer.close()
    }
  }

  return {
    list: async () => (await store.list()).map(toHostImage),
    async add(request, signal) {
      const { name, source, onProgress } = request
      if (source.kind === 'registry') {
        throw new AppError(
          'image/source',
          'Bubblewrap cannot pull from a registry. Save the image to a file and add the file.',
        )
      }
      const obstacle = await options.obstacle()
      if (obstacle !== undefined) throw new AppError('image/failed', obstacle)
      await store.sweep()
      const late = AbortSignal.timeout(addMs)
      try {
        return toHostImage(
          await store.add(name, (location) => fill({ source, onProgress }, location, AbortSignal.any([signal, late]))),
        )
      } catch (error) {
        if (!late.aborted || signal.aborted) throw error
        throw createTimeoutError(error)
      }
    },
    remove: (name) => store.remove(name),
  }
}

/**
 * Returns the missing requirements for building images of the host's distribution, or undefined. Runs no programs,
 * because every description of the runtimes calls it.
 */
export async function findSystemObstacle(): Promise<string | undefined> {
  const [distribution, mmdebstrap] = await Promise.all([readDistributionName(), findExecutable('mmdebstrap')])
  if (typeof distribution === 'string') return distribution
  if (mmdebstrap !== undefined) return undefined
  return 'Creating images requires mmdebstrap. On Debian and Ubuntu: apt-get install mmdebstrap'
}

type Filling = {
  writer: LayerWriter
  limits: LayerLimits
  scratch: string
  onProgress: AddImage['onProgress']
  signal: AbortSignal
}
type ImageContent = Pick<ImageFile, 'detail' | 'path'>

async function fillFromSystem(
  { packages }: Extract<ImageSource, { kind: 'system' }>,
  { writer, limits, onProgress, signal }: Filling,
): Promise<ImageContent> {
  const [distribution, mmdebstrap] = await Promise.all([readDistribution(), findExecutable('mmdebstrap')])
  if (typeof distribution === 'string') throw new AppError('image/source', distribution)
  if (mmdebstrap === undefined) throw new AppError('image/failed', (await findSystemObstacle()) ?? '')
  onProgress(`Creating ${distribution.title}`, 0)
  const request = { mmdebstrap, distribution, packages, onProgress, signal }
  await buildDebianSystem(request, (tar) => writeTar(tar, { writer, limits, layered: false, signal }))
  const more = packages.length === 0 ? '' : ` with ${packages.join(', ')}`
  return {
    detail: `${distribution.title}${more}, created from the packages of this computer's distribution.`,
    path: null,
  }
}

async function fillFromArchive(
  { path }: Extract<ImageSource, { kind: 'archive' }>,
  filling: Filling,
): Promise<ImageContent> {
  const { writer, limits, onProgress, signal } = filling
  await assertFile(path)
  onProgress('Reading the archive', 0)
  const archive = await readArchive(await decompressArchive(path, filling), signal)
  for (const [index, layer] of archive.layers.entries()) {
    const many = archive.layers.length > 1
    const share = index / archive.layers.length
    onProgress(many ? `Unpacking layer ${index + 1} of ${archive.layers.length}` : 'Unpacking', many ? share : null)
    await writer.layer()
    await writeTar(await layer.open(), { writer, limits, layered: archive.layered, signal })
  }
  return { detail: describeArchive(path, archive), path: findPath(archive.environment) }
}

/** Machine numbers of elf(5). */
const architectures: Partial<Record<NodeJS.Architecture, number>> = { x64: 62, arm64: 183 }

/** Commands and terminals require bash, so an image without it is unusable. */
function assertBash(bash: LayerReport['bash']): void {
  const wrong = (sentence: string) => new AppError('image/failed', sentence)
  if (bash === null) throw wrong('The image has no bash, which sandboxes require. Add the package bash.')
  if (bash.architecture === 0) throw wrong('The bash of the image is not a Linux program.')
  if (bash.architecture !== architectures[process.arch]) {
    throw wrong(`The bash of the image is not built for ${process.arch}. Save the image for this computer.`)
  }
  if (bash.loaded === false) throw wrong(`The bash of the image requires ${bash.loader}, which is missing.`)
}

function createTimeoutError(cause: unknown): AppError {
  return new AppError('image/failed', `Adding the image timed out after ${addMs / 60_000} minutes.`, { cause })
}

async function assertFile(path: string): Promise<void> {
  const stats = await stat(path).catch(() => undefined)
  if (!stats)
    throw new AppError('image/failed', `The file ${path} does not exist, or Steward is not allowed to read it.`)
  if (!stats.isFile()) throw new AppError('image/failed', `${path} is not a file.`)
}

/** Returns the archive, or a decompressed copy. A copy is necessary because the layers are in no particular order. */
async function decompressArchive(path: string, { scratch, limits, signal }: Filling): Promise<string> {
  const compression = await detectCompression({ path })
  if (compression === 'none') return path
  const plain = join(scratch, 'archive.tar')
  let remaining = limits.remainingBytes
  const counted = new Transform({
    transform(chunk: Buffer, _, done) {
      remaining -= chunk.length
      if (remaining < 0) done(new AppError('file/no-space', 'The image is too large: not enough disk space.'))
      else done(null, chunk)
    },
  })
  try {
    await pipeline(openDecompressed({ path }, compression), counted, createWriteStream(plain), { signal })
  } catch (error) {
    signal.throwIfAborted()
    throw toReadError(error)
  }
  limits.remainingBytes = remaining
  return plain
}

/**
 * Describes the source of an image. Includes only the name of the file and no folders of the host, because all clients
 * can read the description.
 */
function describeArchive(path: string, { title, layered, ignored }: ImageArchive): string {
  const kind = layered
    ? `The image ${title ?? 'without a name'} from ${basename(path)}.`
    : `The files from ${basename(path)}.`
  return ignored.length === 0 ? kind : `${kind} Ignored settings: ${ignored.join(', ')}.`
}

/** Returns the image's PATH if all of its parts are absolute. */
function findPath(environment: readonly string[]): string | null {
  const path = environment.find((line) => line.startsWith('PATH='))?.slice('PATH='.length)
  if (path === undefined || path === '' || path.length > 4096) return null
  return path.split(':').every((part) => /^\/[\x21-\x7e]*$/.test(part)) ? path : null
}

async function measureSpace(folder: string, reserved: number): Promise<number> {
  const { bavail, bsize } = await statfs(folder)
  return Math.max(0, bavail * bsize - reserved)
}
