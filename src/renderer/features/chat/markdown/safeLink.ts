/** Allowed target of a model's link, and the host to display. */
export type SafeLink = { href: string; host: string }

const schemes = new Set(['http:', 'https:', 'mailto:'])
/** Inline images only: nothing is fetched, and raster formats run no scripts. */
const drawnImage = /^data:image\/(?:png|jpeg|gif|webp);base64,[a-z0-9+/=\s]+$/i
const maxAddress = 8_000
const maxImage = 8_000_000

/**
 * @returns undefined for anything but absolute web and mail URLs, such as `javascript:`, `data:`, `file:` or a relative
 * path
 */
export function parseSafeLink(address: string): SafeLink | undefined {
  if (address.length > maxAddress) return undefined
  const url = URL.parse(address.trim())
  if (!url || !schemes.has(url.protocol)) return undefined
  if (url.protocol === 'mailto:') return { href: url.href, host: tryDecode(url.pathname) }
  if (url.hostname === '') return undefined
  // Credentials before the host may imitate a host: `https://bank.example@evil.example`.
  url.username = ''
  url.password = ''
  return { href: url.href, host: url.host }
}

export function isDrawnImage(address: string): boolean {
  return address.length < maxImage && drawnImage.test(address)
}

function tryDecode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
