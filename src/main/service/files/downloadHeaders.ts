import { posix } from 'node:path'

/**
 * Headers of every file from a sandbox. Browsers save the file or display it in an `img`. Opened as a page, it runs no
 * scripts and has an opaque origin.
 */
const isolationHeaders = {
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'cache-control': 'private, no-cache',
} as const

const imageTypes: Readonly<Record<string, string>> = {
  '.avif': 'image/avif',
  '.bmp': 'image/bmp',
  '.gif': 'image/gif',
  '.ico': 'image/x-icon',
  '.jpeg': 'image/jpeg',
  '.jpg': 'image/jpeg',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.webp': 'image/webp',
}

export function createDownloadHeaders(name: string, type: string = getType(name)): Record<string, string> {
  return { ...isolationHeaders, 'content-type': type, 'content-disposition': formatContentDisposition(name) }
}

function getType(name: string): string {
  return imageTypes[posix.extname(name).toLowerCase()] ?? 'application/octet-stream'
}

/** @see https://www.rfc-editor.org/rfc/rfc6266, with names encoded by RFC 5987 */
export function formatContentDisposition(name: string): string {
  const plain = name.replace(/[^\w .()+,@=-]/g, '_')
  const encoded = encodeURIComponent(name.toWellFormed()).replace(
    /['()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`
}
