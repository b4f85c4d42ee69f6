/**
 * The token of an address that Steward printed (`/#token=…`, `/terminal/:id#token=…`). It leaves the address at once,
 * so that no history, screenshot or copied address holds it.
 */
export function takeAddressToken(
  location: Pick<Location, 'hash' | 'pathname' | 'search'>,
  history: Pick<History, 'replaceState'>,
): string | undefined {
  const token = new URLSearchParams(location.hash.slice(1)).get('token')
  if (token === null) return undefined
  history.replaceState(null, '', location.pathname + location.search)
  return token === '' ? undefined : token
}
