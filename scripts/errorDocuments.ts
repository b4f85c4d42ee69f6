/**
 * `node scripts/errorDocuments.ts`: writes `docs/errors.md` from the error catalogue. Run after changing the catalogue.
 */
import { writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { type ErrorEntry, errorCatalogue } from '#shared/appError.ts'

const path = resolve(import.meta.dirname, '..', 'docs', 'errors.md')

const introduction = `# Errors

Written by \`scripts/errorDocuments.ts\` from \`src/shared/appError.ts\`.

Every response that is not 2xx has a JSON body with \`error\` (what happened), \`code\` and \`hint\` (what to do). Branch on \`code\`: codes are stable, sentences are not. A renamed error also has its \`former_code\` until the next minor version. The model endpoints use the error format of their dialect.
Retry 429 and 503 after \`Retry-After\`. Retry other requests that change something with the same \`Idempotency-Key\` only.
`

/** Formats the catalogue as Markdown, with one table per area in catalogue order. */
export function createErrorDocument(): { path: string; text: string } {
  const areas = Map.groupBy(Object.entries<ErrorEntry>(errorCatalogue), ([code]) => code.slice(0, code.indexOf('/')))
  const sections = [...areas].map(([area, errors]) => {
    const rows = errors.map(
      ([code, { status, hint, formerCode }]) =>
        `| \`${code}\`${formerCode === undefined ? '' : `, formerly \`${formerCode}\``} | ${status} | ${hint.replaceAll('|', '\\|')} |`,
    )
    return `\n## ${area}\n\n| code | status | what to do |\n|---|---|---|\n${rows.join('\n')}\n`
  })
  return { path, text: introduction + sections.join('') }
}

if (import.meta.main) {
  const document = createErrorDocument()
  writeFileSync(document.path, document.text)
}
