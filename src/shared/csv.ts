/**
 * Writes one cell that no spreadsheet reads as a formula: a `'` goes before text that could begin one, and before text
 * that begins with `'`, so that removing one `'` restores every cell. Numbers stay numbers.
 *
 * @see https://www.rfc-editor.org/rfc/rfc4180
 * @see https://owasp.org/www-community/attacks/CSV_Injection
 */
export function formatCsvCell(value: string | number): string {
  if (typeof value === 'number') return String(value)
  const plain = /^[=+\-@\t\r\n']/.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain
}

/** Writes one line with its end, CR LF. */
export function formatCsvLine(cells: readonly (string | number)[]): string {
  return `${cells.map(formatCsvCell).join(',')}\r\n`
}

/** Writes a file with a line of column names. */
export function formatCsv(columns: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  return [columns, ...rows].map(formatCsvLine).join('')
}
