import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { extname, join, normalize, sep } from 'node:path'
import { type BytesResponse, createBytesAnswer } from '#platform/http/answers.ts'
import { AppError } from '#shared/appError.ts'
import { createPageHeaders } from './securityHeaders.ts'

export type StaticFiles = {
  /** @throws AppError `request/not-found`, `request/invalid` */
  answer(request: Pick<IncomingMessage, 'headers'>, path: string): Promise<BytesResponse>
}

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.txt': 'text/plain; charset=utf-8',
}

/** File names in this folder contain a content hash, so browsers may cache the files indefinitely. */
const hashedFolder = `assets${sep}`

/**
 * Serves the built interface, which may embed pages from `frames` only. The interface uses hash routes, so no other
 * paths exist.
 */
export function createStaticFiles(folder: string, frames: () => string): StaticFiles {
  return {
    async answer(request, path) {
      const filePath = resolveFile(path)
      const type = types[extname(filePath)]
      const file = type === undefined ? undefined : await findFile(join(folder, filePath))
      if (file && type !== undefined) {
        const cacheControl = filePath.startsWith(hashedFolder) ? 'public, max-age=31536000, immutable' : 'no-cache'
        return createFileResponse(request, { ...file, type, cacheControl, frames: frames() })
      }
      if (filePath === 'index.html') {
        throw new AppError('request/not-found', 'The interface is not built. Run `npm run build`.')
      }
      throw new AppError('request/not-found', `There is nothing at ${path.slice(0, 200)}.`)
    },
  }
}

/** Resolves a path within the folder. `normalize` of an absolute path cannot escape its root. */
function resolveFile(path: string): string {
  let decoded: string
  try {
    decoded = decodeURIComponent(path)
  } catch (cause) {
    throw createUndecodableError(path, cause)
  }
  if (decoded.includes('\0')) throw createUndecodableError(path)
  const inside = normalize(`${sep}${decoded}`).slice(1)
  return inside === '' ? 'index.html' : inside
}

function createUndecodableError(path: string, cause?: unknown): AppError {
  return new AppError('request/invalid', `The path ${path.slice(0, 200)} is not valid.`, { cause })
}

type Existing = { file: string; size: number; tag: string }

async function findFile(file: string): Promise<Existing | undefined> {
  const handle = await open(file, 'r').catch(() => undefined)
  if (!handle) return undefined
  try {
    const stat = await handle.stat()
    if (!stat.isFile()) return undefined
    return { file, size: stat.size, tag: `"${stat.size.toString(36)}-${Math.trunc(stat.mtimeMs).toString(36)}"` }
  } finally {
    await handle.close()
  }
}

function createFileResponse(
  { headers }: Pick<IncomingMessage, 'headers'>,
  { file, size, tag, type, cacheControl, frames }: Existing & { type: string; cacheControl: string; frames: string },
): BytesResponse {
  const about = {
    ...createPageHeaders(headers.host ?? '', frames),
    'content-type': type,
    'cache-control': cacheControl,
    etag: tag,
  }
  if (headers['if-none-match'] === tag) return createBytesAnswer({ status: 304, headers: about })
  return createBytesAnswer({
    headers: { ...about, 'content-length': String(size) },
    body: createReadStream(file, { end: Math.max(0, size - 1) }),
  })
}
