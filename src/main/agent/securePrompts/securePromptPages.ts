import type { IncomingMessage, ServerResponse } from 'node:http'
import { AppError } from '#shared/appError.ts'
import { createSecurePromptAssets, type SecurePromptAsset } from './securePromptAssets.ts'
import { renderErrorDocument } from './securePromptDocument.ts'
import { readSecurePromptForm } from './securePromptForm.ts'
import type { SecurePromptAnswer, SecurePromptSessions } from './securePromptSessions.ts'
import type { SecurePromptFile } from './securePromptStep.ts'

/** Handles requests below `/prompt/` on the host name of the prompts. The caller has authenticated the request. */
export type SecurePromptPages = {
  /** @throws AppError `request/not-found`, `request/method`, `request/too-large`, `request/malformed` */
  answer(request: IncomingMessage, response: ServerResponse, path: string): Promise<void>
}

type Options = {
  sessions: SecurePromptSessions
  /** Folder of the built interface, with the style, script and fonts. */
  pagesFolder: string
}

export function createSecurePromptPages({ sessions, pagesFolder }: Options): SecurePromptPages {
  const assetCalled = createSecurePromptAssets(pagesFolder)
  return {
    async answer(request, response, path) {
      const { method } = request
      const name = path.slice('/prompt/'.length)
      if (method === 'POST' && (name === 'step' || name === 'file')) {
        return answerOrError(request, response, async () => {
          const form = await readSecurePromptForm(request)
          if (name === 'file') sendFile(response, sessions.file(form))
          else sendPage(response, await sessions.take(form))
        })
      }
      if (method !== 'GET') throw new AppError('request/method', `${path.slice(0, 100)} does not support ${method}.`)
      const asset = name.startsWith('assets/') ? await assetCalled(name.slice('assets/'.length)) : undefined
      if (asset) return sendAsset(response, asset)
      if (!/^[\w-]{43}$/.test(name)) throw new AppError('request/not-found', 'This wallet page does not exist.')
      await answerOrError(request, response, () => sendPage(response, sessions.open(name)))
    },
  }
}

/** Renders errors as a page for the user, because any window may display the prompt. */
async function answerOrError(
  { headers }: IncomingMessage,
  response: ServerResponse,
  answer: () => Promise<void> | void,
): Promise<void> {
  try {
    await answer()
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    const [, port] = (headers.host ?? '').split(':')
    const ancestors = `http://127.0.0.1:${port} http://localhost:${port}`
    send(response, error.status, { body: renderErrorDocument(error), ancestors, ...page })
  }
}

const page = { type: 'text/html; charset=utf-8', cache: 'no-store' } as const

function sendPage(response: ServerResponse, { document, context }: SecurePromptAnswer): void {
  send(response, 200, { body: document, ancestors: context.window, ...page })
}

function sendAsset(response: ServerResponse, { bytes, type }: SecurePromptAsset): void {
  send(response, 200, { body: bytes, type, cache: 'no-cache', ancestors: "'none'" })
}

function sendFile(response: ServerResponse, { name, text }: SecurePromptFile): void {
  const plainName = name.replace(/[^\w.-]/g, '_')
  response.setHeader('content-disposition', `attachment; filename="${plainName}"`)
  send(response, 200, { body: text, type: 'application/json', cache: 'no-store', ancestors: "'none'" })
}

type SecurePromptResponse = { body: string | Buffer; type: string; cache: string; ancestors: string }

function send(response: ServerResponse, status: number, { body, type, cache, ancestors }: SecurePromptResponse): void {
  const bytes = Buffer.from(body)
  response.writeHead(status, {
    'content-type': type,
    'content-length': bytes.length,
    'cache-control': cache,
    'content-security-policy': [
      "default-src 'none'",
      "style-src 'self'",
      "script-src 'self'",
      "font-src 'self'",
      "form-action 'self'",
      "base-uri 'none'",
      `frame-ancestors ${ancestors}`,
    ].join('; '),
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'origin-agent-cluster': '?1',
    'permissions-policy': 'camera=(), microphone=(), geolocation=(), payment=(), usb=(), clipboard-read=()',
  })
  response.end(bytes)
}
