import type { ImageSource } from '../canonical/canonical.ts'
import { createBadRequestError } from '../inferenceError.ts'

/** Types that all five families accept. */
export const imageTypes = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'] as const

/** @throws InferenceError if the URL is neither a data URL of an image nor an https URL */
export function parseImageSource(url: string, param: string): ImageSource {
  if (url.startsWith('data:')) {
    const { mediaType, base64 } = parseDataUrl(url, param)
    return readImageData(mediaType, base64, param)
  }
  if (!URL.canParse(url) || new URL(url).protocol !== 'https:') {
    throw createBadRequestError(param, 'An image must be a data URL or an https address.')
  }
  return { kind: 'url', url }
}

export function readImageData(mediaType: string, base64: string, param: string): ImageSource {
  const normalizedType = mediaType === 'image/jpg' ? 'image/jpeg' : mediaType
  if (!imageTypes.some((it) => it === normalizedType)) {
    throw createBadRequestError(
      param,
      `${mediaType || 'An unknown type'} is not a supported image type. Use ${imageTypes.join(', ')}.`,
    )
  }
  return { kind: 'data', mediaType: normalizedType, base64 }
}

/** @see https://www.rfc-editor.org/rfc/rfc2397 */
export function parseDataUrl(url: string, param: string): { mediaType: string; base64: string } {
  const comma = url.indexOf(',')
  const [mediaType = '', ...parameters] = url.slice('data:'.length, Math.max(comma, 5)).split(';')
  const base64 = url.slice(comma + 1)
  if (comma < 0 || !parameters.includes('base64') || !/^[A-Za-z0-9+/]*={0,2}$/.test(base64) || base64 === '') {
    throw createBadRequestError(param, 'A data URL must contain base64, as in data:image/png;base64,….')
  }
  return { mediaType: mediaType.toLowerCase(), base64 }
}
