const introducer = '\u001b['

/** What only the terminal under the pointer is told: the mouse, and that it got or lost the focus. */
export function isForItself(text: string): boolean {
  if (!text.startsWith(introducer)) return false
  const report = text.slice(introducer.length)
  return report === 'I' || report === 'O' || report.startsWith('M') || /^<[\d;]+[Mm]$/.test(report)
}
