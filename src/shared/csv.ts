/**
 * Formats a cell that spreadsheets do not interpret as a formula. Prefixes a `'` to text that could start a formula or
 * starts with `'`, so that removing one `'` restores every cell. Numbers are unchanged.
 * @see https://www.rfc-editor.org/rfc/rfc4180
 * @see https://owasp.org/www-community/attacks/CSV_Injection
 */
export function formatCsvCell(value: string | number): string {
  if (typeof value === 'number') return String(value)
  const plain = /^[=+\-@\t\r\n']/.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain
}

/** Formats a line, including its CR LF. */
export function formatCsvLine(cells: readonly (string | number)[]): string {
  return `${cells.map(formatCsvCell).join(',')}\r\n`
}

/** Formats a file with a header line. */
export function formatCsv(columns: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  return [columns, ...rows].map(formatCsvLine).join('')
}
