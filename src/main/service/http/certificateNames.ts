import { X509Certificate } from 'node:crypto'

/**
 * Host names that a certificate is for, by its subject alternative names. Wildcards stay as they are: `*.example.org`.
 * @see https://www.rfc-editor.org/rfc/rfc5280#section-4.2.1.6
 */
export function certificateNames(pem: string): string[] {
  const names = new X509Certificate(pem).subjectAltName ?? ''
  // A name with a comma or quote is quoted by Node; no host name has one.
  return names.split(', ').flatMap((entry) => /^DNS:([a-z0-9*._-]+)$/i.exec(entry)?.[1]?.toLowerCase() ?? [])
}

/** A wildcard stands for one whole label. */
export function matchesName(name: string, pattern: string): boolean {
  if (!pattern.startsWith('*.')) return name === pattern
  const dot = name.indexOf('.')
  return dot > 0 && name.slice(dot) === pattern.slice(1)
}
