import { randomBytes } from 'node:crypto'
import type { ImageInspectInfo } from 'dockerode'
import { z } from 'zod'
import { AppError } from '#shared/appError.ts'
import type { HostImage } from '#shared/contract/hostIpc.ts'
import { ImageName } from '#shared/contract/images.ts'
import type { AddImage, RuntimeImages } from '../sandboxRuntime.ts'
import { ignoreStatus } from './containers.ts'
import { type DockerEngine, EngineRefusal } from './dockerEngine.ts'
import { EngineStreamError, followEngine } from './engineLines.ts'
import { loadArchive } from './imageArchive.ts'
import { toRepository } from './ownership.ts'

/**
 * Progress of one layer, as reported by Docker.
 * @see https://docs.docker.com/reference/api/engine/version/v1.41/#tag/Image/operation/ImageCreate
 */
const ProgressLine = z.object({
  id: z.string(),
  status: z.string(),
  progressDetail: z.object({ current: z.number().optional(), total: z.number().optional() }).optional(),
})

const completedStatus = /^(pull complete|already exists|download complete)/i

const addMs = 3_600_000
const removeMs = 120_000
const tag = 'latest'

export const toImageReference = (owner: string, name: ImageName): string =>
  `${toRepository(owner)}/image/${name}:${tag}`

type ImagesOptions = {
  engine: DockerEngine
  owner: string
  runtime: string
  /**
   * Creates a sandbox from an image, runs a command in it and removes it.
   * @throws AppError `sandbox/start-failed` or `exec/failed`
   */
  tryImage: (reference: string, signal: AbortSignal) => Promise<void>
}

/** Returns the repository of images that are not tested yet. */
const getUntestedRepository = (owner: string): string => `${toRepository(owner)}/untried`

/**
 * Creates the image manager of the Docker runtime. Only images tagged by this Steward instance are shown or modified.
 */
export function createDockerImages(options: ImagesOptions): RuntimeImages {
  const { engine, owner, runtime } = options
  const prefix = `${toRepository(owner)}/image/`

  return {
    async list() {
      const filters = { reference: [`${prefix}*`] }
      const call = engine.use('list images', (docker, abortSignal) => docker.listImages({ filters, abortSignal }))
      // An unavailable engine has no usable images.
      const response = await call.catch((error: unknown) => {
        if (error instanceof AppError && error.code === 'runtime/unavailable') return []
        throw error
      })
      return response.flatMap(({ RepoTags, Size, Created }) =>
        (RepoTags ?? []).flatMap((reference) => {
          if (!reference.startsWith(prefix)) return []
          const name = ImageName.safeParse(reference.slice(prefix.length, -`:${tag}`.length)).data
          if (name === undefined) return []
          const detail = `In the container engine, as ${reference}.`
          return describeImage({ name, runtime, size: Size, createdAtMs: Created * 1000, detail })
        }),
      )
    },
    async add(request, signal) {
      try {
        return await addImage(options, { ...request, onProgress: throttleProgress(request.onProgress) }, signal)
      } catch (error) {
        if (error instanceof EngineRefusal || error instanceof EngineStreamError) {
          throw createImageError(error.message, error)
        }
        throw error
      }
    },
    remove: (name) => removeReference(engine, toImageReference(owner, name)),
  }
}

async function addImage(options: ImagesOptions, request: AddImage, signal: AbortSignal): Promise<HostImage> {
  const { engine, owner } = options
  const { name, source, onProgress } = request
  if (await inspectImage(engine, toImageReference(owner, name))) {
    throw new AppError('image/exists', `The image \`${name}\` already exists.`)
  }
  if (source.kind === 'system') {
    throw new AppError('image/source', 'The docker runtime only creates images from a registry or an archive.')
  }
  // The engine's original name of the image is preserved if it existed before.
  if (source.kind === 'archive') {
    const before = await listEveryName(engine)
    const loaded = await loadArchive({ engine, path: source.path, onProgress, signal })
    return adoptImage(options, request, { source: loaded, isOurs: /[:/]/.test(loaded) && !before.has(loaded), signal })
  }
  const present = await inspectImage(engine, source.reference)
  await pullImage({ engine, reference: source.reference, onProgress, signal })
  return adoptImage(options, request, { source: source.reference, isOurs: !present, signal })
}

/** Tests `source` and tags it with the image's name only after the test. Removes `source` if `isOurs`. */
async function adoptImage(
  { engine, owner, runtime, tryImage }: ImagesOptions,
  { name, onProgress }: AddImage,
  { source, isOurs, signal }: { source: string; isOurs: boolean; signal: AbortSignal },
): Promise<HostImage> {
  const reference = toImageReference(owner, name)
  const untried = `${getUntestedRepository(owner)}:${randomBytes(12).toString('hex')}`
  await tagImage(engine, source, untried)
  try {
    if (isOurs) await removeReference(engine, source)
    onProgress('The container engine is testing the image.', null)
    await tryImage(untried, signal).catch(async (error: unknown) => {
      signal.throwIfAborted()
      if (!(error instanceof AppError) || error.code === 'runtime/unavailable') throw error
      throw createImageError((await explainForeign(engine, untried)) ?? error.message, error)
    })
    await tagImage(engine, untried, reference)
  } finally {
    await removeReference(engine, untried)
  }
  const image = await inspectImage(engine, reference)
  if (!image) throw new AppError('image/failed', `The engine lost the image \`${name}\`.`)
  return describeImage({ name, runtime, ...readSizes(image), detail: `In the container engine, as ${reference}.` })
}

/** Explains a failed test. A foreign architecture is not an error in itself, because engines may emulate it. */
async function explainForeign(engine: DockerEngine, reference: string): Promise<string | undefined> {
  const { Arch } = await engine.use('ask its version', (docker) => docker.version())
  const architecture = (await inspectImage(engine, reference))?.Architecture
  if (architecture === undefined || architecture === Arch) return undefined
  return `The image is built for ${architecture}, but this computer has ${Arch}.`
}

async function tagImage(engine: DockerEngine, source: string, reference: string): Promise<void> {
  const colon = reference.lastIndexOf(':')
  const names = { repo: reference.slice(0, colon), tag: reference.slice(colon + 1) }
  await engine.use('name an image', (docker, abortSignal) => docker.getImage(source).tag({ ...names, abortSignal }))
}

async function listEveryName(engine: DockerEngine): Promise<Set<string>> {
  const all = await engine.use('list images', (docker, abortSignal) => docker.listImages({ abortSignal }))
  return new Set(all.flatMap(({ RepoTags }) => RepoTags ?? []))
}

type ImageDescription = Pick<HostImage, 'name' | 'runtime' | 'detail' | 'createdAtMs'> & { size: number }

function describeImage({ name, runtime, size, createdAtMs, detail }: ImageDescription): HostImage {
  return { name, runtime, status: 'ready', detail, progress: null, sizeBytes: size, createdAtMs }
}

/** Removes images left untested by a process that ended during the test. */
export async function removeUntried(engine: DockerEngine, owner: string): Promise<void> {
  const filters = { reference: [`${getUntestedRepository(owner)}:*`] }
  const images = await engine.use('list images', (docker, abortSignal) => docker.listImages({ filters, abortSignal }))
  for (const reference of images.flatMap(({ RepoTags }) => RepoTags ?? [])) {
    if (reference.startsWith(`${getUntestedRepository(owner)}:`)) await removeReference(engine, reference)
  }
}

export async function inspectImage(engine: DockerEngine, reference: string): Promise<ImageInspectInfo | undefined> {
  const call = engine.use('find an image', (docker) => docker.getImage(reference).inspect())
  return call.catch(ignoreStatus(404))
}

/**
 * Removes a reference, and the image with its last reference. Succeeds if it does not exist.
 * @throws EngineRefusal 409 if the image is in use
 */
export async function removeReference(engine: DockerEngine, reference: string): Promise<void> {
  const call = engine.use('remove an image', (docker) => docker.getImage(reference).remove(), { ms: removeMs })
  await call.catch(ignoreStatus(404))
}

type Pull = {
  engine: DockerEngine
  reference: string
  onProgress: (sentence: string, share: number | null) => void
  signal: AbortSignal
}

/** @throws AppError `image/failed` */
export async function pullImage({ engine, reference, onProgress, signal }: Pull): Promise<void> {
  onProgress(`The container engine is requesting ${reference}.`, null)
  const progress = createLayerProgress()
  try {
    await engine.use(
      'pull an image',
      async (docker, ending) => {
        const stream = await docker.pull(withTag(reference), { abortSignal: ending })
        ending.addEventListener('abort', () => 'destroy' in stream && (stream as { destroy(): void }).destroy())
        await followEngine(docker, stream, (line) => {
          const share = progress(line)
          onProgress(`The container engine is pulling ${reference}.`, share)
        })
      },
      { signal, ms: addMs },
    )
  } catch (error) {
    if (!(error instanceof EngineRefusal) && !(error instanceof EngineStreamError)) throw error
    throw createImageError(`${reference} could not be pulled: ${error.message}`, error)
  }
}

/** Adds `latest` if a reference has no tag, because Docker would pull all tags of the repository otherwise. */
function withTag(reference: string): string {
  return /[:@][^/]*$/.test(reference) ? reference : `${reference}:latest`
}

function createImageError(message: string, cause: unknown): AppError {
  return new AppError('image/failed', message, { cause })
}

function readSizes({ Size, Created }: ImageInspectInfo): { size: number; createdAtMs: number } {
  return { size: Size, createdAtMs: Math.trunc(Date.parse(Created)) || 0 }
}

/** Reports each message and each percent only once. */
function throttleProgress(onProgress: AddImage['onProgress']): AddImage['onProgress'] {
  let reported = ''
  return (sentence, share) => {
    const now = `${sentence}${share === null ? '' : Math.floor(share * 100)}`
    if (now !== reported) onProgress(sentence, share)
    reported = now
  }
}

/**
 * @returns a function that maps each progress line to the completed share of all bytes, or null while no size is known
 */
function createLayerProgress(): (line: unknown) => number | null {
  const layers = new Map<string, { current: number; total: number }>()
  let furthest = 0
  return (line) => {
    const { data } = ProgressLine.safeParse(line)
    if (data) {
      const layer = layers.get(data.id) ?? { current: 0, total: 0 }
      const { current = layer.current, total = layer.total } = data.progressDetail ?? {}
      if (/^download/i.test(data.status)) layers.set(data.id, { current, total: Math.max(total, current) })
      if (completedStatus.test(data.status) && layers.has(data.id))
        layers.set(data.id, { ...layer, current: layer.total })
    }
    const sum = (pick: 'current' | 'total') => [...layers.values()].reduce((total, layer) => total + layer[pick], 0)
    const total = sum('total')
    if (total === 0) return null
    furthest = Math.max(furthest, sum('current') / total)
    return Math.min(1, furthest)
  }
}
