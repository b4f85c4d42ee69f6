import { lookup } from 'node:dns'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { ignoreLateErrors } from '#platform/http/lateErrors.ts'
import { createGuardedLookup } from '#platform/net/guardedLookup.ts'
import { isPublicAddress } from '#platform/net/publicAddress.ts'
import { readBytes } from '#platform/parsing/boundedBytes.ts'
import { imageTypes } from '../dialects/imageSource.ts'
import { createBadRequestError } from '../inferenceError.ts'
import type { CanonicalRequest, ImagePart, ImageSource } from './canonical.ts'

/** Size limit of the strictest provider. */
const maxImageBytes = 5 * 1024 * 1024
const maxImages = 20
const maxRedirects = 3
const deadlineMs = 15_000

export type ImageFetcher = (url: string, signal: AbortSignal) => Promise<ImageSource>

type Guard = {
  isAllowed: (address: string) => boolean
  /** Certificate authority of test servers. */
  ca?: string | undefined
  resolve?: typeof lookup
}

/**
 * Creates a fetcher of images for providers that accept only bytes. It connects only to public addresses. The address
 * is checked when connecting, so that a name cannot resolve to another one after the check.
 */
export function createImageFetcher(
  { isAllowed, ca, resolve = lookup }: Guard = { isAllowed: isPublicAddress },
): ImageFetcher {
  const checkedLookup = createGuardedLookup(isAllowed, resolve)

  async function fetched(url: string, signal: AbortSignal, redirects: number): Promise<ImageSource> {
    const place = new URL(url)
    const literal = place.hostname.replace(/^\[|\]$/g, '')
    if (place.protocol !== 'https:' || place.username !== '') throw new Error('Only https URLs are supported.')
    if (isIP(literal) !== 0 && !isAllowed(literal)) throw new Error('The URL is not public.')
    const answer = await requestImage(place, { signal, lookup: checkedLookup, ca })
    const status = answer.statusCode ?? 0
    const { location } = answer.headers
    if (status >= 300 && status < 400 && location !== undefined) {
      answer.destroy()
      if (redirects === 0) throw new Error('Too many redirects.')
      return fetched(new URL(location, place).href, signal, redirects - 1)
    }
    if (status !== 200) {
      answer.destroy()
      throw new Error(`The server responded with status ${status}.`)
    }
    return toImage(await readImage(answer))
  }

  return async (url, signal) => {
    const deadline = AbortSignal.timeout(deadlineMs)
    try {
      return await fetched(url, AbortSignal.any([signal, deadline]), maxRedirects)
    } catch (error) {
      signal.throwIfAborted()
      const late = deadline.aborted ? 'The download timed out.' : undefined
      const why =
        late ?? (error instanceof Error && !('code' in error) ? error.message : 'The server cannot be reached.')
      throw createBadRequestError(
        'messages',
        `An image in the request could not be fetched. ${why}`,
        'image_fetch_failed',
      )
    }
  }
}

/** Returns the request with the data of its images. Each URL is fetched once. @throws InferenceError */
export async function withFetchedImages(
  request: CanonicalRequest,
  fetchImage: ImageFetcher,
  signal: AbortSignal,
): Promise<CanonicalRequest> {
  const urls = new Set(listImages(request).flatMap(({ source }) => (source.kind === 'url' ? [source.url] : [])))
  if (urls.size === 0) return request
  if (urls.size > maxImages)
    throw createBadRequestError('messages', `A request can have at most ${maxImages} image URLs.`)
  const images = new Map<string, ImageSource>()
  await Promise.all([...urls].map(async (url) => void images.set(url, await fetchImage(url, signal))))
  return withImages(request, (url) => images.get(url) ?? { kind: 'url', url })
}

/** Replaces URLs by a placeholder image, to check a request before anything is fetched. */
export function withUnfetchedImages(request: CanonicalRequest): CanonicalRequest {
  return withImages(request, () => ({ kind: 'data', mediaType: 'image/png', base64: '' }))
}

function withImages(request: CanonicalRequest, dataOf: (url: string) => ImageSource): CanonicalRequest {
  const fillPart = <T extends { type: string }>(part: T | ImagePart): T | ImagePart => {
    if (!isImage(part) || part.source.kind !== 'url') return part
    return { ...part, source: dataOf(part.source.url), fetchedFrom: part.source.url }
  }
  if (!listImages(request).some(({ source }) => source.kind === 'url')) return request
  const turns = request.turns.map((turn) => {
    if (turn.role !== 'user') return turn
    const parts = turn.parts.map((part) =>
      part.type === 'result' ? { ...part, parts: part.parts.map(fillPart) } : fillPart(part),
    )
    return { ...turn, parts }
  })
  return { ...request, turns }
}

function isImage(part: { type: string }): part is ImagePart {
  return part.type === 'image'
}

function listImages(request: CanonicalRequest): ImagePart[] {
  return request.turns.flatMap((turn) =>
    turn.role === 'user'
      ? turn.parts.flatMap((part) => (part.type === 'result' ? part.parts : [part])).filter(isImage)
      : [],
  )
}

type Connection = { signal: AbortSignal; lookup: LookupFunction; ca: string | undefined }

function requestImage(location: URL, { signal, lookup: guarded, ca }: Connection): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const headers = { accept: imageTypes.join(', '), 'user-agent': 'Steward' }
    const requested = request(location, {
      signal,
      lookup: guarded,
      headers,
      agent: false,
      ...(ca !== undefined && { ca }),
    })
    ignoreLateErrors(requested)
    requested.once('response', resolve).once('error', reject).end()
  })
}

function readImage(answer: IncomingMessage): Promise<Buffer> {
  const tooLarge = () => new Error(`The image is larger than ${maxImageBytes / 1024 / 1024} MB.`)
  return readBytes(answer, { maxBytes: maxImageBytes, tooLarge })
}

/** Detects the type by the first bytes, because the server's content type may be wrong. */
function toImage(bytes: Buffer): ImageSource {
  const begins = (...first: number[]) => first.every((it, index) => bytes[index] === it)
  const mediaType = begins(0x89, 0x50, 0x4e, 0x47)
    ? 'image/png'
    : begins(0xff, 0xd8, 0xff)
      ? 'image/jpeg'
      : begins(0x47, 0x49, 0x46, 0x38)
        ? 'image/gif'
        : begins(0x52, 0x49, 0x46, 0x46) && bytes.subarray(8, 12).toString('latin1') === 'WEBP'
          ? 'image/webp'
          : undefined
  if (!mediaType) throw new Error('The file is not a PNG, JPEG, GIF or WebP image.')
  return { kind: 'data', mediaType, base64: bytes.toString('base64') }
}
