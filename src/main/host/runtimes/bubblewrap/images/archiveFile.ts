import { createHash } from 'node:crypto'
import { open, stat } from 'node:fs/promises'
import { posix } from 'node:path'
import { type Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { z } from 'zod'
import { parseJson } from '#platform/parsing/boundedJson.ts'
import { AppError } from '#shared/appError.ts'
import { detectCompression, type FilePart, openDecompressed } from './decompressed.ts'
import type { TarHeader } from './tarLayer.ts'

/** Contents of an archive: the layers of one image, lowest first, or a tar of a root file system. */
export type ImageArchive = {
  layers: readonly ArchiveLayer[]
  layered: boolean
  /** Environment from the image configuration. */
  environment: readonly string[]
  /** Settings of the image configuration that sandboxes ignore. */
  ignored: readonly string[]
  /** Name in the archive, such as `debian:12`. */
  title: string | undefined
}

export type ArchiveLayer = { open(): Promise<Readable> }

const DockerManifest = z.array(
  z.object({ Config: z.string(), RepoTags: z.array(z.string()).nullish(), Layers: z.array(z.string()) }),
)
const Descriptor = z.object({
  mediaType: z.string().optional(),
  digest: z.string().regex(/^sha256:[0-9a-f]{64}$/),
  platform: z.object({ architecture: z.string(), os: z.string() }).optional(),
  annotations: z.record(z.string(), z.string()).optional(),
})
type Descriptor = z.infer<typeof Descriptor>
const Index = z.object({ manifests: z.array(Descriptor) })
const Manifest = z.object({ config: Descriptor, layers: z.array(Descriptor) })
const Configuration = z.object({ config: z.record(z.string(), z.unknown()).nullish() })
const unusedKeys = ['Cmd', 'Entrypoint', 'User', 'WorkingDir', 'Volumes', 'ExposedPorts']

const maxJsonBytes = 8 * 1024 * 1024
const maxMembers = 100_000
/** Longest name of a layer or manifest: see PATH_MAX. */
const maxNameCharacters = 4096
const maxNesting = 3

/**
 * Inspects an uncompressed tar.
 * @param path output of `docker save` or `skopeo copy … oci-archive:`, or a tar of a root file system
 * @throws AppError `image/failed`
 */
export async function readArchive(path: string, signal: AbortSignal): Promise<ImageArchive> {
  const members = await readMembers(path, signal)
  const docker = members.get('manifest.json')
  if (docker) {
    const parsed = DockerManifest.safeParse(await readJson(docker))
    if (parsed.success) return readDockerArchive(parsed.data, members)
  }
  const index = members.get('index.json')
  if (index && members.has('oci-layout')) return readOciArchive(await parse(Index, index), members)
  const whole: ArchiveLayer = { open: async () => openDecompressed({ path }, 'none') }
  return { layers: [whole], layered: false, environment: [], ignored: [], title: undefined }
}

type Members = ReadonlyMap<string, FilePart>

/**
 * Reads the offsets of the tar's members by name. Follows links between members, as required for old `docker save`
 * output.
 */
async function readMembers(path: string, signal: AbortSignal): Promise<Members> {
  const members = new Map<string, FilePart>()
  const links = new Map<string, string>()
  const { extract } = await import('tar-stream')
  const entries = extract()
  const piped = pipeline(openDecompressed({ path }, 'none'), entries, { signal })
  piped.catch(() => {}) // awaited below
  try {
    for await (const entry of entries) {
      const { name, type, size = 0, byteOffset, linkname } = entry.header as unknown as TarHeader
      entry.resume()
      const target = linkname ?? ''
      if (name.length > maxNameCharacters || target.length > maxNameCharacters) continue
      const plain = posix.normalize(name)
      if (type === 'file' || type === 'contiguous-file') members.set(plain, { path, offset: byteOffset, size })
      if (type === 'symlink') links.set(plain, posix.normalize(posix.join(posix.dirname(plain), target)))
      // A root file system may have many more members. Their names are read when they are written.
      if (members.size + links.size >= maxMembers) break
    }
    if (members.size + links.size < maxMembers) await piped
  } catch (error) {
    signal.throwIfAborted()
    throw createNoTarError(error)
  } finally {
    entries.destroy()
    await piped.catch(() => {}) // fully read, or aborted on purpose
  }
  for (const [name, target] of links) {
    const part = members.get(target)
    if (part && !members.has(name)) members.set(name, part)
  }
  return members
}

async function readDockerArchive(images: z.infer<typeof DockerManifest>, members: Members): Promise<ImageArchive> {
  const [image, ...others] = images
  if (!image || others.length > 0) {
    throw createBrokenArchiveError(`it contains ${images.length} images. Save only one: docker save NAME > FILE`)
  }
  const layers = image.Layers.map((name) => createLayer(requireMember(members, posix.normalize(name)), undefined))
  const { config } = await parse(Configuration, requireMember(members, posix.normalize(image.Config)))
  return { layers, layered: true, ...toSettings(config), title: image.RepoTags?.[0] }
}

async function readOciArchive(index: z.infer<typeof Index>, members: Members): Promise<ImageArchive> {
  let { manifests } = index
  for (let depth = 0; depth < maxNesting; depth++) {
    const chosen = selectPlatform(manifests)
    const content = await readVerified(members, chosen)
    const nested = Index.safeParse(content)
    if (nested.success) {
      manifests = nested.data.manifests
      continue
    }
    const { config, layers } = parseContent(Manifest, content, chosen.digest)
    const configuration = parseContent(Configuration, await readVerified(members, config), config.digest)
    return {
      layers: layers.map((layer) => createLayer(findBlob(members, layer), layer.digest)),
      layered: true,
      ...toSettings(configuration.config),
      title: index.manifests[0]?.annotations?.['org.opencontainers.image.ref.name'],
    }
  }
  throw createBrokenArchiveError('its image indexes are nested too deeply')
}

function selectPlatform(manifests: readonly Descriptor[]): Descriptor {
  const architecture = process.arch === 'x64' ? 'amd64' : process.arch
  const fitting = manifests.filter(
    ({ platform }) => !platform || (platform.os === 'linux' && platform.architecture === architecture),
  )
  const [chosen] = fitting
  if (!chosen) throw createBrokenArchiveError(`it has no image for linux/${architecture}`)
  return chosen
}

function createLayer(part: FilePart, digest: string | undefined): ArchiveLayer {
  return {
    async open() {
      const compression = await detectCompression(part)
      if (digest === undefined) return openDecompressed(part, compression)
      await verify(part, digest)
      return openDecompressed(part, compression)
    },
  }
}

async function readVerified(members: Members, descriptor: Descriptor): Promise<unknown> {
  const part = findBlob(members, descriptor)
  await verify(part, descriptor.digest)
  return readJson(part)
}

async function verify(part: FilePart, digest: string): Promise<void> {
  const hash = createHash('sha256')
  const sink = new Transform({
    transform(chunk: Buffer, _, done) {
      hash.update(chunk)
      done()
    },
  })
  await pipeline(openDecompressed(part, 'none'), sink.resume())
  if (`sha256:${hash.digest('hex')}` !== digest)
    throw createBrokenArchiveError(`the content of ${digest} does not match its digest`)
}

function findBlob(members: Members, { digest }: Descriptor): FilePart {
  return requireMember(members, `blobs/${digest.replace(':', '/')}`)
}

function requireMember(members: Members, name: string): FilePart {
  const entry = members.get(name)
  if (entry) return entry
  throw createBrokenArchiveError(`${JSON.stringify(name.slice(0, 200))} is missing`)
}

function toSettings(config: Record<string, unknown> | null | undefined) {
  const environment = z.array(z.string()).safeParse(config?.Env)
  const isSet = (value: unknown): boolean =>
    typeof value === 'string' ? value !== '' && value !== '/' : typeof value === 'object' && value !== null
  return {
    environment: environment.success ? environment.data : [],
    ignored: unusedKeys.filter((key) => isSet(config?.[key])),
  }
}

async function parse<T>(schema: z.ZodType<T>, part: FilePart): Promise<T> {
  return parseContent(schema, await readJson(part), part.path)
}

function parseContent<T>(schema: z.ZodType<T>, content: unknown, name: string): T {
  const result = schema.safeParse(content)
  if (result.success) return result.data
  throw createBrokenArchiveError(`${name} does not describe an image: ${result.error.issues[0]?.message}`)
}

async function readJson({ path, offset = 0, size }: FilePart): Promise<unknown> {
  const length = size ?? (await stat(path)).size
  if (length > maxJsonBytes) throw createBrokenArchiveError('its manifest or configuration is too large')
  const file = await open(path, 'r')
  try {
    const { buffer } = await file.read({ buffer: Buffer.alloc(length), position: offset })
    return parseJson(buffer.toString('utf8'))
  } catch (cause) {
    throw createBrokenArchiveError('its manifest or configuration is not valid JSON', cause)
  } finally {
    await file.close()
  }
}

function createNoTarError(cause: unknown): AppError {
  const reason = cause instanceof Error ? cause.message.replace(/\.$/, '') : String(cause)
  return new AppError('image/failed', `The file is not a tar archive, or it is incomplete: ${reason}.`, { cause })
}

function createBrokenArchiveError(reason: string, cause?: unknown): AppError {
  return new AppError('image/failed', `This archive cannot be used: ${reason}.`, { cause })
}
