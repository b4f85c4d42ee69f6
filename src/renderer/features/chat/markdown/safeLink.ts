/** Target of a model's link that is allowed, and the host to display. */
export type SafeLink = { href: string; host: string }

const schemes = new Set(['http:', 'https:', 'mailto:'])
/** Drawn from the text itself: nothing is fetched for it, and nothing in it runs. */
const drawnImage = /^data:image\/(?:png|jpeg|gif|webp);base64,[a-z0-9+/=\s]+$/i
const maxAddress = 8_000
const maxImage = 8_000_000

/** @returns undefined for whatever is not a whole address of the web or of mail: `javascript:`, `data:`, `file:`, a path of our own */
export function parseSafeLink(address: string): SafeLink | undefined {
  if (address.length > maxAddress) return undefined
  const url = URL.parse(address.trim())
  if (!url || !schemes.has(url.protocol)) return undefined
  if (url.protocol === 'mailto:') return { href: url.href, host: tryDecode(url.pathname) }
  if (url.hostname === '') return undefined
  // A name before the host looks like the host itself: `https://bank.example@evil.example`.
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
