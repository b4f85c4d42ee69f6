import { hmac } from '@noble/hashes/hmac'
import { sha256 } from '@noble/hashes/sha2'
import { base64urlnopad } from '@scure/base'
import { linkText, windowLink } from '#shared/contract/localApi.ts'
import { readWindowKey } from './windowKey.ts'

/**
 * Signs a URL that the browser loads without custom headers, such as an image or a download. The URL is valid only in
 * this browser, because it also requires the session cookie.
 * @param address path and query
 */
export function signWindowUrl(address: string, now = Date.now(), key = readWindowKey()): string {
  if (key === undefined) return address
  const until = Math.floor(now / 1000) + windowLink.seconds
  const signature = hmac(sha256, sha256(key), linkText(until, address))
  const mark = address.includes('?') ? '&' : '?'
  return `${address}${mark}${windowLink.parameter}=${until}.${base64urlnopad.encode(signature)}`
}
