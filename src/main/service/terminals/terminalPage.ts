import { createReadStream } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { type BytesResponse, createBytesAnswer } from '#platform/http/answers.ts'
import type { Page } from '#platform/http/requestPipeline.ts'
import { AppError } from '#shared/appError.ts'

const types: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
}

/**
 * The build names the files in `assets` by content hash. The pattern matches a single name, so that no path can leave
 * the folder.
 */
const assetName = /^[\w-]+(\.[\w-]+)+$/

/**
 * Page of a terminal link: `/terminal/:id`. The page contains no secret and needs no authentication. Its token is in
 * the URL fragment and is sent only with the page's own calls.
 */
export function createTerminalPages(folder: string | undefined): Page[] {
  const asset: Page['answer'] = (_, { name = '' }) => createAssetResponse(folder, name)
  return [
    {
      path: '/terminal/:id',
      async answer({ request }) {
        const page =
          folder === undefined ? undefined : await readFile(join(folder, 'terminal.html')).catch(() => undefined)
        return createBytesAnswer({
          status: page ? 200 : 404,
          headers: {
            'content-type': 'text/html; charset=utf-8',
            'content-security-policy': formatPagePolicy(request.headers.host ?? ''),
          },
          body: page ?? plainPage,
        })
      },
    },
    // The page refers to its files by relative paths.
    { path: '/terminal/assets/:name', answer: asset },
    { path: '/assets/:name', answer: asset },
  ]
}

const plainPage = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Steward</title></head>
<body><p>This Steward does not serve pages. Open the terminal in Steward or through the API.</p></body>
</html>
`

async function createAssetResponse(folder: string | undefined, name: string): Promise<BytesResponse> {
  const type = types[extname(name)]
  const file =
    folder === undefined || type === undefined || !assetName.test(name) ? undefined : join(folder, 'assets', name)
  const stats = file === undefined ? undefined : await stat(file).catch(() => undefined)
  if (file === undefined || type === undefined || !stats?.isFile()) {
    throw new AppError('request/not-found', `There is no file ${name.slice(0, 100)}.`)
  }
  return createBytesAnswer({
    headers: {
      'content-type': type,
      'cache-control': 'public, max-age=31536000, immutable',
      'content-length': String(stats.size),
    },
    body: createReadStream(file),
  })
}

/** The terminal inserts its colors as inline styles. Everything else is loaded from this service. */
function formatPagePolicy(host: string): string {
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
