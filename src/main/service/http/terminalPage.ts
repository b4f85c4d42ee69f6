import { createReadStream } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { extname, join } from 'node:path'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { AppError } from '../../../shared/appError.ts'

const types: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
}

/** The build names files in `assets` by their content. One name, so no path ever leaves the folder. */
const assetName = /^[\w-]+(\.[\w-]+)+$/

/**
 * The page behind a terminal link: `/terminal/:id`. It holds no secret and asks nobody who they are; its token stands
 * behind `#` in the address and reaches only the calls that it makes.
 */
export function terminalPage(folder: string | undefined): (app: FastifyInstance) => void {
  return (app) => {
    app.get('/terminal/:id', async (request, reply) => {
      const page =
        folder === undefined ? undefined : await readFile(join(folder, 'terminal.html')).catch(() => undefined)
      return reply
        .code(page ? 200 : 404)
        .type('text/html; charset=utf-8')
        .header('content-security-policy', pagePolicy(request.headers.host ?? ''))
        .send(page ?? plainPage)
    })
    // The page names its files relative to itself.
    app.get('/terminal/assets/:name', (request, reply) => sendAsset(folder, nameOf(request.params), reply))
    app.get('/assets/:name', (request, reply) => sendAsset(folder, nameOf(request.params), reply))
  }
}

const plainPage = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Steward</title></head>
<body><p>This Steward was started without its pages. Open the terminal in Steward, or through the API.</p></body>
</html>
`

async function sendAsset(folder: string | undefined, name: string, reply: FastifyReply): Promise<FastifyReply> {
  const type = types[extname(name)]
  const file =
    folder === undefined || type === undefined || !assetName.test(name) ? undefined : join(folder, 'assets', name)
  const found = file === undefined ? undefined : await stat(file).catch(() => undefined)
  if (file === undefined || type === undefined || !found?.isFile()) {
    throw new AppError('request/not-found', `There is no file ${name.slice(0, 100)}.`)
  }
  return reply
    .type(type)
    .header('cache-control', 'public, max-age=31536000, immutable')
    .header('content-length', found.size)
    .send(createReadStream(file))
}

function nameOf(params: unknown): string {
  return typeof params === 'object' && params !== null && 'name' in params ? String(params.name) : ''
}

/** The terminal writes its colours as styles into the page; everything else comes from this service. */
function pagePolicy(host: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self'",
    `connect-src 'self' ws://${host} wss://${host}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}
