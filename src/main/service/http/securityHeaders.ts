/** On every answer. Pages bring a Content-Security-Policy of their own. */
export const securityHeaders = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
} as const

/** Only with TLS: a browser remembers it for the host name, whatever the port. */
export const transportSecurityHeader = { 'strict-transport-security': 'max-age=31536000' } as const
