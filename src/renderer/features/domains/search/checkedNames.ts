import { type CheckedDomain, domainLimits } from '../../../../shared/contract/domains.ts'

/** Names of a pasted text, each once: they may stand in lines, or with commas or spaces between. */
export function pastedNames(text: string): string[] {
  const names = text
    .split(/[\s,;]+/)
    .map((it) => it.trim().toLowerCase().replace(/\.$/, ''))
    .filter((it) => it !== '')
  return [...new Set(names)]
}

/** What keeps these names from being checked. */
export function namesFault(names: readonly string[]): string | undefined {
  if (names.length <= domainLimits.check) return undefined
  return `${names.length} names. At most ${domainLimits.check} can be checked at once.`
}

/** For a spreadsheet, which takes no cell for a formula. */
export function checkedCsv(checked: readonly CheckedDomain[]): string {
  const rows = checked.map(({ domain, unicode, status, premium, price, warning, error }) =>
    [domain, unicode, status, premium ? 'yes' : 'no', price ?? '', warning ?? error ?? ''].map(cell).join(','),
  )
  return [`domain,name,status,premium,price_usd,note`, ...rows, ''].join('\r\n')
}

function cell(value: string | number): string {
  const text = typeof value === 'string' && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value)
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
