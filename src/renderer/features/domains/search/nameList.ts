import type { CheckedDomain } from '#shared/contract/domainSearch.ts'
import { formatCsv } from '#shared/csv.ts'

/** Names of a pasted text, each once: they may stand in lines, or with commas or spaces between. */
export function parseNames(text: string): string[] {
  const names = text
    .split(/[\s,;]+/)
    .map((it) => it.trim().toLowerCase().replace(/\.$/, ''))
    .filter((it) => it !== '')
  return [...new Set(names)]
}

/** Returns why these names cannot be checked. */
export function findNamesFault(names: readonly string[], max: number): string | undefined {
  if (names.length <= max) return undefined
  return `${names.length} names. At most ${max} can be checked at once.`
}

/** For a spreadsheet. */
export function formatCheckedCsv(checked: readonly CheckedDomain[]): string {
  return formatCsv(
    ['domain', 'name', 'status', 'premium', 'price_usd', 'note'],
    checked.map(({ domain, unicode, status, premium, price, warning, error }) => [
      ...[domain, unicode, status, premium ? 'yes' : 'no', price ?? '', warning ?? error ?? ''],
    ]),
  )
}
