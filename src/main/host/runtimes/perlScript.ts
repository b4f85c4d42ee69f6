import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { getSystemCallNumbers } from './systemCallNumbers.ts'

/** Scripts beside this file, beside the built programs, and within a package's archive. */
const folder = new URL('./scripts/', import.meta.url)
const cache = new Map<string, string>()

/**
 * A helper script for `perl -e`, made of the named files of `scripts/` with what all of them share before them.
 * It takes one argument: see `perlArgument`.
 */
export function buildPerlScript(...parts: string[]): string {
  return ['shared', ...parts].map(readPerlPart).join('')
}

/** One file of `scripts/` alone, so that what Perl complains about names this file and its line. */
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

/** The one argument of a script: `values`, and the numbers of this machine's system calls. */
export function formatPerlArgument(values: Readonly<Record<string, unknown>>): string {
  return JSON.stringify({ calls: getSystemCallNumbers() ?? {}, ...values })
}
