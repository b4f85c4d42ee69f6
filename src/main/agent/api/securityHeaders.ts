import { securePromptHostName } from '#shared/contract/wallet.ts'

const securityHeaders = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), microphone=(), geolocation=(), payment=(), usb=()',
  'x-frame-options': 'DENY',
} as const

/**
 * Returns origins that may be framed: the secure prompts, and exposed ports below `localhost`, each on a separate
 * origin. Ports served through a proxy open in a tab.
 */
export function toFrameSources({ port, serviceUrl }: { port: number; serviceUrl: string | undefined }): string {
  const service = new URL(serviceUrl ?? 'about:blank')
  const previews = service.protocol === 'http:' ? [`http://*.localhost:${service.port || 80}`] : []
  return [`http://${securePromptHostName}:${port}`, ...previews].join(' ')
}

/** `unsafe-inline` applies to styles only, because xterm.js and the dialogs insert style elements. */
export function createPageHeaders(host: string, frames: string) {
  return {
    ...securityHeaders,
    'content-security-policy': [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self' 'unsafe-inline'",
      `connect-src 'self' ws://${host}`,
      "img-src 'self' data:",
      "font-src 'self'",
      `frame-src ${frames}`,
      "frame-ancestors 'none'",
      "base-uri 'none'",
      "form-action 'none'",
    ].join('; '),
  }
}

/** Default headers of responses. */
export const dataHeaders = {
  ...securityHeaders,
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cache-control': 'no-store',
} as const

/**
 * Headers added to every forwarded response, overriding its own. A response opened as a page gets an opaque origin and
 * runs no scripts. Styles are allowed for SVG in an `img`.
 */
export const forwardedResponseHeaders = {
  ...securityHeaders,
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox; frame-ancestors 'none'",
  'cache-control': 'no-store',
} as const
