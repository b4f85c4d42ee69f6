import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { runInNewContext } from 'node:vm'
import { createBytesAnswer } from '#platform/http/answers.ts'
import type { Page } from '#platform/http/requestPipeline.ts'
import type { Route } from '#shared/contract/route.ts'
import { createServiceDocument } from './serviceDocument.ts'

export type DocsOptions = { routes: readonly Route[]; version: string }

/** Serves `/openapi.json`, and `/docs` to read it in a browser, without third-party resources. */
export function createDocsPages({ routes, version }: DocsOptions): Page[] {
  return [
    {
      path: '/openapi.json',
      answer: () =>
        createBytesAnswer({
          headers: { 'content-type': 'application/json; charset=utf-8' },
          body: JSON.stringify(createServiceDocument({ routes, version })),
        }),
    },
    // The links of the page are relative to the folder.
    { path: '/docs', answer: () => createBytesAnswer({ status: 308, headers: { location: '/docs/' }, body: '' }) },
    {
      path: '/docs/',
      async answer() {
        const page = await renderApiReferencePage()
        const headers = {
          'content-type': 'text/html; charset=utf-8',
          'content-security-policy': formatDocsPolicy(page),
        }
        return createBytesAnswer({ headers, body: page })
      },
    },
    {
      path: '/docs/js/scalar.js',
      async answer() {
        const headers = {
          'content-type': 'text/javascript; charset=utf-8',
          'cache-control': 'private, max-age=3600',
        }
        return createBytesAnswer({ headers, body: await readApiReferenceScript() })
      },
    },
  ]
}

async function renderApiReferencePage(): Promise<string> {
  const { renderApiReference } = await import('@scalar/client-side-rendering')
  return renderApiReference({
    pageTitle: 'Steward API',
    cdn: 'js/scalar.js',
    config: {
      url: '/openapi.json',
      withDefaultFonts: false,
      telemetry: false,
      hideClientButton: true,
      agent: { disabled: true },
      mcp: { disabled: true },
      showDeveloperTools: 'never',
      persistAuth: false,
    },
  })
}

const scriptOwner = '@scalar/fastify-api-reference'
const scriptBegin = 'var standalone_default = '

/**
 * Reads the script of the API reference. The only package with a browser build embeds it as a string literal in a
 * module, next to an unused plugin. Importing that module would permanently take 40 MB, so the literal is extracted
 * instead and garbage-collected after the response.
 */
async function readApiReferenceScript(): Promise<string> {
  const module = await readFile(createRequire(import.meta.url).resolve(scriptOwner), 'utf8')
  const offset = module.indexOf(scriptBegin)
  if (offset < 0) throw new Error(`${scriptOwner} no longer contains the script of the API reference.`)
  return String(runInNewContext(module.slice(offset + scriptBegin.length, module.indexOf('\n', offset))))
}

/**
 * Allows scripts of this service and the exact inline scripts of the page. Inline styles are allowed because the API
 * reference inserts them.
 */
function formatDocsPolicy(html: string): string {
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
