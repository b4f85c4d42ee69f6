/**
 * Writes `resources/config.schema.json` and the table in `docs/configuration.md` from the configuration schema. Run
 * after changing `src/main/config/config.ts`: `node scripts/configDocuments.ts`.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { z } from 'zod'
import { Config, type ConfigKey, listConfigKeys } from '#config/config.ts'

const root = resolve(import.meta.dirname, '..')
const keysBegin = '<!-- keys: written by scripts/configDocuments.ts -->'
const keysEnd = '<!-- end of keys -->'

export type Document = { path: string; text: string }

/** Creates both documents. Text outside the markers in `configuration.md` is unchanged. */
export function createConfigDocuments(): Document[] {
  const guide = resolve(root, 'docs', 'configuration.md')
  return [
    { path: resolve(root, 'resources', 'config.schema.json'), text: `${JSON.stringify(jsonSchema(), null, 2)}\n` },
    { path: guide, text: withTable(readFileSync(guide, 'utf8')) },
  ]
}

function jsonSchema() {
  return { title: 'Configuration of Steward', ...z.toJSONSchema(Config, { io: 'input', target: 'draft-2020-12' }) }
}

function withTable(guide: string): string {
  const [before, rest] = guide.split(keysBegin)
  const after = rest?.split(keysEnd)[1]
  if (before === undefined || after === undefined)
    throw new Error('docs/configuration.md has no markers for the table of keys.')
  const head = '| Key | Default | Environment | What it does |\n|---|---|---|---|'
  return `${before}${keysBegin}\n\n${head}\n${listConfigKeys().map(row).join('\n')}\n\n${keysEnd}${after}`
}

function row({ path, initial, variable, description }: ConfigKey): string {
  return `| \`${path.join('.')}\` | \`${JSON.stringify(initial)}\` | \`${variable}\` | ${description} |`
}

if (import.meta.main) {
  for (const { path, text } of createConfigDocuments()) writeFileSync(path, text)
}
