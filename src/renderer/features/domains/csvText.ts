/** Of cells; a spreadsheet takes none of text for a formula. */
export function csvText(head: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  return [head.join(','), ...rows.map((row) => row.map(cell).join(',')), ''].join('\r\n')
}

function cell(value: string | number): string {
  const text = typeof value === 'string' && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value)
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
