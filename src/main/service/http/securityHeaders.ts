/** Headers of every response. Pages add their own Content-Security-Policy. */
export const securityHeaders = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
} as const

/** Only with TLS. Browsers store it for the host name, regardless of the port. */
export const transportSecurityHeader = { 'strict-transport-security': 'max-age=31536000' } as const
