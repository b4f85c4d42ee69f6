const maxWarningChars = 2_000

/** @returns the header that lists changed and omitted parameters, or no header without warnings */
export function createWarningHeaders(warnings: readonly string[]): Record<string, string> {
  const text = [...new Set(warnings)].join('; ')
  return text === '' ? {} : { 'x-steward-warnings': text.replace(/[^\x20-\x7e]/g, '?').slice(0, maxWarningChars) }
}
