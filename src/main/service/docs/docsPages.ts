import { createHash } from 'node:crypto'
import Fastify, { type FastifyInstance } from 'fastify'
import type { Route } from '../../../shared/contract/route.ts'
import { serviceDocument } from './serviceDocument.ts'

export type DocsOptions = { routes: readonly Route[]; version: string }

/** `/openapi.json`, and `/docs` to read it in a browser, with nothing from elsewhere. */
export function docsPages({ routes, version }: DocsOptions): (app: FastifyInstance) => void {
  return (app) => {
    let reader: Promise<FastifyInstance> | undefined
    app.get('/openapi.json', (_, reply) =>
      reply.type('application/json; charset=utf-8').send(JSON.stringify(serviceDocument({ routes, version }))),
    )
    const serve = async (path: string) => {
      reader ??= openReader()
      return (await reader).inject({ method: 'GET', url: path })
    }
    // The page's own links are relative to the folder.
    app.get('/docs', (_, reply) => reply.redirect('/docs/', 308))
    app.get('/docs/', async (_, reply) => {
      const { body } = await serve('/docs/')
      return reply.type('text/html; charset=utf-8').header('content-security-policy', docsPolicy(body)).send(body)
    })
    app.get('/docs/js/scalar.js', async (_, reply) => {
      const { rawPayload } = await serve('/docs/js/scalar.js')
      return reply
        .type('text/javascript; charset=utf-8')
        .header('cache-control', 'private, max-age=3600')
        .send(rawPayload)
    })
    app.addHook('onClose', async () => (await reader)?.close())
  }
}

/** Loaded by the first reader only: it is 30 MB of memory that a service without readers does not need. */
async function openReader(): Promise<FastifyInstance> {
  const { default: apiReference } = await import('@scalar/fastify-api-reference')
  const app = Fastify({ logger: false })
  await app.register(apiReference, {
    routePrefix: '/docs',
    configuration: {
      url: '/openapi.json',
      pageTitle: 'Steward API',
      withDefaultFonts: false,
      telemetry: false,
      hideClientButton: true,
      agent: { disabled: true },
      mcp: { disabled: true },
      showDeveloperTools: 'never',
      persistAuth: false,
    },
  })
  await app.ready()
  return app
}

/** Scripts of this service and the very ones that stand in the page; the reader writes its styles into the page. */
function docsPolicy(html: string): string {
  const inline = [...html.matchAll(/<script[^>]*>([\s\S]*?)<\/script>/g)]
    .map(([, code]) => code ?? '')
    .filter((code) => code !== '')
    .map((code) => `'sha256-${createHash('sha256').update(code).digest('base64')}'`)
  return [
    "default-src 'none'",
    `script-src 'self' ${inline.join(' ')}`,
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data: blob:",
    "font-src 'self' data:",
    "connect-src 'self'",
    "worker-src 'self' blob:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}
