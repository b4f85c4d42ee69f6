const introducer = '\u001b['

/** Whether input concerns only the terminal under the pointer, such as mouse and focus reports. */
export function isPointerOrFocusReport(text: string): boolean {
  if (!text.startsWith(introducer)) return false
  const report = text.slice(introducer.length)
  return report === 'I' || report === 'O' || report.startsWith('M') || /^<[\d;]+[Mm]$/.test(report)
}
