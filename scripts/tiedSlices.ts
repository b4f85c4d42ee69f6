import { readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import ts from 'typescript'
import type { CodeFile } from './codeLanguage.ts'

/** Folders whose direct subfolders are slices. */
const sliced = /^(src\/main\/(?:agent|service|host)|src\/renderer(?:\/features)?)\/([^/]+)\//

/**
 * Lists pairs of slices that import each other, including type imports, as `FOLDER <> FOLDER`. A slice can be
 * understood without the other only if imports go in one direction.
 */
export function findTiedSlices(files: readonly CodeFile[]): string[] {
  const arrows = new Set<string>()
  for (const { path, source } of files) {
    const from = readSlice(path)
    if (from === undefined) continue
    for (const target of readImports(path, source)) {
      const to = readSlice(target)
      if (to !== undefined && to !== from) arrows.add(`${from} <> ${to}`)
    }
  }
  return [...arrows].filter((arrow) => {
    const [from = '', to = ''] = arrow.split(' <> ')
    return from < to && arrows.has(`${to} <> ${from}`)
  })
}

/** Lists the project files that a file imports. */
function readImports(path: string, source: ts.SourceFile): string[] {
  return source.statements.flatMap((statement) => {
    if (!ts.isImportDeclaration(statement) && !ts.isExportDeclaration(statement)) return []
    const { moduleSpecifier } = statement
    if (moduleSpecifier === undefined || !ts.isStringLiteral(moduleSpecifier)) return []
    return resolveImport(path, moduleSpecifier.text) ?? []
  })
}

function resolveImport(path: string, specifier: string): string | undefined {
  if (specifier.startsWith('.')) return normalize(join(dirname(path), specifier))
  const subpath = Object.entries(readSubpaths()).find(([prefix]) => specifier.startsWith(prefix))
  return subpath && subpath[1] + specifier.slice(subpath[0].length)
}

let subpaths: Record<string, string> | undefined
/** Reads the prefixes of `imports` in package.json and their folders. */
function readSubpaths(): Record<string, string> {
  subpaths ??= Object.fromEntries(
    // trusted file of this repository
    Object.entries(
      (JSON.parse(readFileSync('package.json', 'utf8')) as { imports: Record<string, string> }).imports,
    ).map(([pattern, target]) => [pattern.replace('*', ''), target.replace('./', '').replace('*', '')]),
  )
  return subpaths
}

function readSlice(path: string): string | undefined {
  const match = sliced.exec(path)
  return match ? `${match[1]}/${match[2]}` : undefined
}
