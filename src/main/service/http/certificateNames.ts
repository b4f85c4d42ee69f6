import { X509Certificate } from 'node:crypto'

/**
 * Returns the host names of a certificate's subject alternative names, including wildcards such as `*.example.org`.
 * @see https://www.rfc-editor.org/rfc/rfc5280#section-4.2.1.6
 */
export function readCertificateNames(pem: string): string[] {
  const names = new X509Certificate(pem).subjectAltName ?? ''
  // Node quotes names that contain commas or quotes, which host names cannot.
  return names.split(', ').flatMap((entry) => /^DNS:([a-z0-9*._-]+)$/i.exec(entry)?.[1]?.toLowerCase() ?? [])
}

/** Matches a wildcard against exactly one label. */
export function isNameMatch(name: string, pattern: string): boolean {
  if (!pattern.startsWith('*.')) return name === pattern
  const dot = name.indexOf('.')
  return dot > 0 && name.slice(dot) === pattern.slice(1)
}
