/**
 * Takes the token from a URL that Steward printed (`/#token=…`, `/terminal/:id#token=…`). Removes it from the address
 * immediately, so that it does not end up in the history, a screenshot or a copied URL.
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
