/**
 * One cell of RFC 4180 that no spreadsheet takes for a formula. A `'` before what could begin one keeps it text; before
 * another `'` it keeps apart what was added from what was there: taking one `'` off the front gives every cell back as
 * it was. A number is no text of anybody's, and stays one that can be summed up.
 * @see https://owasp.org/www-community/attacks/CSV_Injection
 */
export function csvCell(value: string | number): string {
  if (typeof value === 'number') return String(value)
  const plain = /^[=+\-@\t\r\n']/.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain
}

export function csvLine(cells: readonly (string | number)[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`
}
