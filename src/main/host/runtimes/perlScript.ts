import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { getSystemCallNumbers } from './systemCallNumbers.ts'

/** Folder of the scripts: beside this file, beside the built programs, and within a package's archive. */
const folder = new URL('./scripts/', import.meta.url)
const cache = new Map<string, string>()

/**
 * Builds a helper script for `perl -e` from the named files of `scripts/`, preceded by the shared one. It takes one
 * argument, see `formatPerlArgument`.
 */
export function buildPerlScript(...parts: string[]): string {
  return ['shared', ...parts].map(readPerlPart).join('')
}

/** Returns a single file of `scripts/`. Perl errors report the name and line of this file. */
export function readPerlPart(name: string): string {
  const cached = cache.get(name)
  if (cached !== undefined) return cached
  const text = definePart(name, readFileSync(fileURLToPath(new URL(`${name}.pl`, folder)), 'utf8'))
  cache.set(name, text)
  return text
}

export function definePart(name: string, text: string): string {
  return `# line 1 "${name}.pl"\n${text}\n`
}

/** Formats the argument of a script: `values`, and the system call numbers of this architecture. */
export function formatPerlArgument(values: Readonly<Record<string, unknown>>): string {
  return JSON.stringify({ calls: getSystemCallNumbers() ?? {}, ...values })
}
