import type { CheckedDomain } from '#shared/contract/domainSearch.ts'
import { formatCsv } from '#shared/csv.ts'

/** Returns the distinct names in a pasted text, separated by line breaks, commas or spaces. */
export function parseNames(text: string): string[] {
  const names = text
    .split(/[\s,;]+/)
    .map((part) => part.trim().toLowerCase().replace(/\.$/, ''))
    .filter((it) => it !== '')
  return [...new Set(names)]
}

/** Returns the reason why these names cannot be checked, or undefined. */
export function validateNames(names: readonly string[], max: number): string | undefined {
  if (names.length <= max) return undefined
  return `${names.length} names. At most ${max} can be checked at once.`
}

export function formatCheckedCsv(checked: readonly CheckedDomain[]): string {
  return formatCsv(
    ['domain', 'name', 'status', 'premium', 'price_usd', 'note'],
    checked.map(({ domain, unicode, status, premium, price, warning, error }) => [
      ...[domain, unicode, status, premium ? 'yes' : 'no', price ?? '', warning ?? error ?? ''],
    ]),
  )
}
