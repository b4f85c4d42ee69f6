import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { extname, join, normalize, sep } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { AppError } from '../../../shared/appError.ts'
import { pageHeaders } from './answers.ts'

export type PageFiles = {
  /** @throws AppError `request/not-found` */
  send(request: IncomingMessage, response: ServerResponse, path: string): Promise<void>
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

/** The build names what stands in this folder by its content, so a browser may keep it for good. */
const hashedFolder = `assets${sep}`

/** The built interface, with `frames` as the only sources of pages within it. A path that is no file and looks like a page is the application's own to route. */
export function pageFiles(folder: string, frames: () => string): PageFiles {
  return {
    async send(request, response, path) {
      const wanted = fileOf(path)
      const type = types[extname(wanted)]
      const file = type === undefined ? undefined : await existing(join(folder, wanted))
      if (file && type !== undefined) {
        const cacheControl = wanted.startsWith(hashedFolder) ? 'public, max-age=31536000, immutable' : 'no-cache'
        return stream(request, response, { ...file, type, cacheControl, frames: frames() })
      }
      if (extname(wanted) !== '') throw new AppError('request/not-found', `There is no file ${path}.`)
      const page = await existing(join(folder, 'index.html'))
      if (!page) throw new AppError('request/not-found', 'The interface is not built: run `npm run build`.')
      return stream(request, response, {
        ...page,
        type: 'text/html; charset=utf-8',
        cacheControl: 'no-cache',
        frames: frames(),
      })
    },
  }
}

/** Below the folder, whatever the path says: `normalize` of an absolute path climbs no higher than its root. */
function fileOf(path: string): string {
  let decoded: string
  try {
    decoded = decodeURIComponent(path)
  } catch (cause) {
    throw notDecodable(path, cause)
  }
  if (decoded.includes('\0')) throw notDecodable(path)
  const inside = normalize(`${sep}${decoded}`).slice(1)
  return inside === '' ? 'index.html' : inside
}

function notDecodable(path: string, cause?: unknown): AppError {
  return new AppError('request/invalid', `The path ${path.slice(0, 200)} is not valid.`, { cause })
}

type Existing = { file: string; size: number; tag: string }

async function existing(file: string): Promise<Existing | undefined> {
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

async function stream(
  request: IncomingMessage,
  response: ServerResponse,
  found: Existing & { type: string; cacheControl: string; frames: string },
): Promise<void> {
  const headers = {
    ...pageHeaders(request.headers.host ?? '', found.frames),
    'content-type': found.type,
    'cache-control': found.cacheControl,
    etag: found.tag,
  }
  if (request.headers['if-none-match'] === found.tag) {
    response.writeHead(304, headers).end()
    return
  }
  response.writeHead(200, { ...headers, 'content-length': found.size })
  if (request.method === 'HEAD') {
    response.end()
    return
  }
  await pipeline(createReadStream(found.file, { end: Math.max(0, found.size - 1) }), response)
}
